// The journal's messages and STOPs as entries of the inbox file, and which entries are wa-sync's own. Pure.

import { type InboxEntry, isoSeconds } from '../../protocol/files.ts';
import { messageId, projectNumber } from '../../protocol/ids.ts';
import { relayLimits } from '../../protocol/limits.ts';
import { type HeldMessage, isHeldBack, type ProjectState, stopWordId, textOf } from '../journal/state.ts';

export function toEntry(message: HeldMessage): InboxEntry {
  const { row, attempt, phase } = message;
  return {
    id: row.id,
    timestamp: isoSeconds(row.at),
    from: 'user',
    text: textOf(message),
    read: phase !== 'waiting',
    ...(attempt > 0 ? { attempt } : {}),
    ...(isHeldBack(message) && phase === 'waiting' ? { parked: true } : {}),
    ...(row.corrects ? { editOf: row.corrects } : {}),
    ...(message.later ? { later: true } : {}),
    ...(row.expiresAt === row.at + relayLimits.messageTtlMs ? {} : { expiresAt: row.expiresAt }),
  };
}

/** True = a text of the message that no longer counts: from before an edit, or of the edit that follows as a correction. */
export function isReplaced(project: ProjectState, entry: InboxEntry): boolean {
  const message = project.messages.get(entry.id);
  if (!message) return false;
  const isText = (words: string) => textOf(message, words) === entry.text;
  if (project.replaced.get(entry.id)?.some(({ text }) => isText(text))) return true;
  return [...project.messages.values()].some(({ row }) => row.corrects === entry.id && isText(row.text));
}

/** By identity, also of a replaced text. Of a message that ended long ago only the id is left. */
export function isOurs(project: ProjectState, entry: InboxEntry): boolean {
  const message = project.messages.get(entry.id);
  if (!message) return project.known.has(entry.id);
  return isEntryOf(message, entry) || isReplaced(project, entry);
}

/** True = the entry of the message's id has its identity. */
export function isEntryOf(message: HeldMessage, { timestamp, text }: InboxEntry): boolean {
  return text === textOf(message) && timestamp === isoSeconds(message.row.at);
}

/** The STOPs of the phone that have not had their effect yet, as other programs and the hook fallback see them. */
export function openStops(project: ProjectState): InboxEntry[] {
  return [...project.controls.values()].flatMap((row) => {
    const { control, at } = row;
    if (control.type !== 'stop' && control.type !== 'abort') return [];
    const { type, text } = control;
    return [{ id: stopEntryId(row), timestamp: isoSeconds(at), from: 'user', text, read: false, control: type }];
  });
}

/** `stop_<seq>`, except for a STOP from the desk, which has no seq. */
export function stopEntryId({ id, seq }: { id: string; seq: number }): string {
  return id.startsWith('msg_') ? `stop_${seq}` : id;
}

/** True = wa-sync wrote the entry for a STOP, open or handled: its seq is one that the journal has passed. */
export function isOurStop(project: ProjectState, { id, control }: InboxEntry): boolean {
  if (!control) return false;
  if (openStops(project).some((stop) => stop.id === id) || project.known.has(id)) return true;
  const seq = /^stop_(\d{1,10})$/.exec(id)?.[1];
  if (seq === undefined || project.epoch === null) return false;
  const row = messageId(project.epoch, projectNumber(project.key), Number(seq));
  return project.known.has(row) || project.known.has(stopWordId(row));
}
