// What the inbox file shows of the journal, and what of the file is unread: pure, but for the outcome that a showing notes.

import { type HookNote, type InboxEntry, identityOf, isoSeconds, noteOf } from '../../protocol/files.ts';
import { messageId, projectNumber } from '../../protocol/ids.ts';
import { fileLimits } from '../../protocol/limits.ts';
import { editsIn, type HeldMessage, type ProjectState, stopWordId, textOf } from '../journal/state.ts';
import type { WaitingMessage } from '../turns/view.ts';
import { mergeEntry, pruneSettled, selectWindow } from './merge.ts';

/** A foreign rewrite this soon after we wrote an entry did not know of it, however late we look. */
const droppedWithinMs = 5_000;

export interface ViewOutcome {
  filed: string[];
  /** By another program. */
  taken: string[];
  /** By a hook that worked without the daemon. `edits` as in the journal's record. */
  handed: { id: string; edits: number; note: HookNote }[];
  /** Ids of controls that such a hook obeyed. */
  stopped: string[];
}

export const emptyOutcome = (): ViewOutcome => ({ filed: [], taken: [], handed: [], stopped: [] });

/** The file's next content. Pure but for `outcome`, which says what it found. */
export function showJournal(
  project: ProjectState,
  entries: readonly InboxEntry[],
  look: {
    isTelling: boolean;
    writtenAt: number;
    now: number;
    claiming: ReadonlySet<string>;
    /** Messages above it are not shown yet. */
    upToSeq: number;
    sign(entry: InboxEntry): InboxEntry;
  },
  outcome: ViewOutcome,
): InboxEntry[] {
  const { isTelling, writtenAt, now, claiming, upToSeq, sign } = look;
  const shown = new Set<string>();
  const kept: InboxEntry[] = [];
  const stops = new Map(openStops(project).map((stop) => [stop.id, stop]));
  for (const entry of entries) {
    const message = project.messages.get(entry.id);
    if (isOurStop(project, entry)) {
      const open = stops.get(entry.id);
      stops.delete(entry.id);
      if (open && entry.read && noteOf(entry)) outcome.stopped.push(...openStopIds(project, entry.id));
      kept.push(open ? sign(mergeEntry(entry, open, 'inbox') as InboxEntry) : { ...withoutNote(entry), read: true });
      continue;
    }
    if (!message) {
      // Ended long ago and revived by a stale foreign write, or somebody else's.
      kept.push(project.known.has(entry.id) ? { ...withoutNote(entry), read: true } : entry);
      continue;
    }
    const ours = toEntry(message);
    if (identityOf(ours) !== identityOf(entry)) {
      // Same id, other text: somebody else's message, unless it is what an edit replaced.
      if (!isReplaced(project, entry)) kept.push(entry);
      else if (entry.read && (entry.attempt ?? 0) >= message.attempt) noteTaken(message, entry);
      continue;
    }
    shown.add(entry.id);
    if (claiming.has(entry.id)) {
      kept.push(entry);
      continue;
    }
    const merged = sign(mergeEntry(entry, ours, 'inbox') as InboxEntry);
    if (merged.read && !noteTaken(message, merged) && message.phase === 'waiting') outcome.taken.push(entry.id);
    // The journal has the hand-over, so the entry may go when the file is full. The mark of a lease keeps hooks away.
    if (message.phase !== 'waiting' && message.phase !== 'leased') {
      kept.push(withoutNote(merged));
      continue;
    }
    const isParked = message.parked === 'parked' && !merged.read;
    if (Boolean(merged.parked) === isParked || merged.read) kept.push(merged);
    else kept.push(isParked ? { ...merged, parked: true } : withoutParked(merged));
  }
  kept.push(...[...stops.values()].map(sign));
  const isGone = (id: string) => outcome.taken.includes(id) || outcome.handed.some((each) => each.id === id);
  const waiting: InboxEntry[] = [];
  for (const message of project.waiting.values()) {
    const { id, seq } = message.row;
    if (claiming.has(id)) continue;
    const isDropped = isTelling && message.filedAt !== undefined && writtenAt - message.filedAt > droppedWithinMs;
    if (!shown.has(id) && isDropped) {
      outcome.taken.push(id);
    } else if (!isGone(id) && (shown.has(id) || seq <= upToSeq)) {
      waiting.push(sign(toEntry(message)));
    }
    if (waiting.length >= fileLimits.entries) break;
  }
  const foreign = kept.filter((entry) => !entry.read && !shown.has(entry.id));
  const window = selectWindow(waiting, foreign);
  for (const entry of window) {
    if (shown.has(entry.id)) continue;
    outcome.filed.push(entry.id);
    kept.push(entry);
  }
  return pruneSettled(kept, 'inbox', now) as InboxEntry[];

  /** True = a hook alone gave the message as it stands in `entry`. */
  function noteTaken(message: HeldMessage, entry: InboxEntry): boolean {
    const note = message.phase === 'waiting' ? noteOf(entry) : undefined;
    if (!note) return false;
    const { id } = message.row;
    outcome.handed.push({ id, edits: editsIn(project, id, (text) => text === entry.text), note });
    return true;
  }
}

/** The same object when there is none. */
function withoutNote(entry: InboxEntry): InboxEntry {
  if (entry.via === undefined) return entry;
  const { via: _, ...rest } = entry;
  return rest as InboxEntry;
}

function withoutParked({ parked: _, ...entry }: InboxEntry): InboxEntry {
  return entry as InboxEntry;
}

function openStopIds(project: ProjectState, entryId: string): string[] {
  return [...project.controls.values()].filter((row) => stopEntryId(row) === entryId).map(({ id }) => id);
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

/** `stop_<seq>`; one that was given at the desk has no seq of its own. */
function stopEntryId({ id, seq }: { id: string; seq: number }): string {
  return id.startsWith('msg_') ? `stop_${seq}` : id;
}

/** An entry that we wrote for a STOP, open or spent: its seq is one that the journal has passed. */
export function isOurStop(project: ProjectState, { id, control }: InboxEntry): boolean {
  if (!control) return false;
  if (openStops(project).some((stop) => stop.id === id) || project.known.has(id)) return true;
  const seq = /^stop_(\d{1,10})$/.exec(id)?.[1];
  if (seq === undefined || project.epoch === null) return false;
  const row = messageId(project.epoch, projectNumber(project.key), Number(seq));
  return project.known.has(row) || project.known.has(stopWordId(row));
}

/** A text of the message that does not count any more: from before an edit, or the edit's that follows as a correction. */
function isReplaced(project: ProjectState, entry: InboxEntry): boolean {
  const message = project.messages.get(entry.id);
  if (!message) return false;
  const isText = (words: string) => textOf(message, words) === entry.text;
  if (project.replaced.get(entry.id)?.some(({ text }) => isText(text))) return true;
  for (const { row } of project.messages.values()) if (row.corrects === entry.id && isText(row.text)) return true;
  return false;
}

/** By identity, or dead by it; of what ended long ago only the id is left. */
export function isOurs(project: ProjectState, entry: InboxEntry): boolean {
  const message = project.messages.get(entry.id);
  if (!message) return project.known.has(entry.id);
  return identityOf(toEntry(message)) === identityOf(entry) || isReplaced(project, entry);
}

export function toEntry(message: HeldMessage): InboxEntry {
  const { row, attempt, phase } = message;
  return {
    id: row.id,
    timestamp: isoSeconds(row.at),
    from: 'user',
    text: textOf(message),
    read: phase !== 'waiting',
    ...(attempt > 0 ? { attempt } : {}),
    ...(message.parked === 'parked' && phase === 'waiting' ? { parked: true } : {}),
    ...(row.corrects ? { editOf: row.corrects } : {}),
  };
}

/** False = `unreadOf` says the same without these entries, so that nobody needs to know whether they may be used. */
export function changesUnread(project: ProjectState, entries: readonly InboxEntry[]): boolean {
  return entries.some((entry) =>
    isOurs(project, entry) ? entry.read && project.waiting.has(entry.id) : !isSettled(entry),
  );
}

function isSettled({ read, parked, control }: InboxEntry): boolean {
  return Boolean(read || parked || control);
}

/** Ours by the journal up to `upToSeq`, whether they stand in the file or not; foreign ones by the file. */
export function unreadOf(
  project: ProjectState,
  entries: readonly InboxEntry[],
  { upToSeq }: { upToSeq: number },
): WaitingMessage[] {
  const inFile = new Map(entries.map((entry) => [identityOf(entry), entry]));
  const found: WaitingMessage[] = [];
  for (const message of project.waiting.values()) {
    if (message.row.seq > upToSeq) continue;
    const entry = toEntry(message);
    const shown = inFile.get(identityOf(entry));
    const takenByOther = shown ? shown.read && (shown.attempt ?? 0) >= message.attempt : false;
    if (!takenByOther && message.parked !== 'parked') {
      const later = message.later ? ({ later: true } as const) : {};
      const beforeStop = message.parked === 'released' ? ({ beforeStop: true } as const) : {};
      found.push({ entry, at: message.row.at, fromOwner: true, ...later, ...beforeStop });
    }
    if (found.length >= fileLimits.entries) break;
  }
  for (const entry of entries) {
    if (isSettled(entry) || isOurs(project, entry)) continue;
    found.push({ entry, at: Date.parse(entry.timestamp) || 0, fromOwner: false });
  }
  return found.sort((a, b) => a.at - b.at);
}
