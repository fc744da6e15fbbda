// What becomes of the messages that a project holds: taken in, edited, moved from phase to phase, reported. Called by `apply` alone.

import { relayLimits } from '../../protocol/limits.ts';
import type { EditRow, MessageRow, OutcomeRow, Row } from '../../protocol/log.ts';
import type { Receipt, ReportedState } from '../../protocol/receipts.ts';
import { supersedes } from '../../protocol/receipts.ts';
import { type HeldMessage, isKnown, type ProjectState, stopWordId } from './state.ts';

/** Those of the ids that the project holds, in their order. */
export function held(project: ProjectState, ids: string[]): HeldMessage[] {
  return ids.flatMap((id) => project.messages.get(id) ?? []);
}

/** A row of the relay's log, unless it was journalled before. */
export function addRow(project: ProjectState, row: Exclude<Row, OutcomeRow>, at: number): void {
  if (isKnown(project, row.id)) return;
  if (row.kind === 'control') {
    project.controls.set(row.id, row);
    project.known.set(row.id, at);
    return;
  }
  if (row.kind === 'edit') {
    addEdit(project, row, at);
    return;
  }
  if (row.expired) return;
  if (row.retryOf !== undefined) replaceByRetry(project, row.retryOf, at);
  hold(project, row);
}

/** The owner sent it again: what still waits of the first one must not be given as well. The relay knows, so nothing is reported. */
function replaceByRetry(project: ProjectState, id: string, at: number): void {
  const first = project.messages.get(id);
  if (first?.phase !== 'waiting' && first?.phase !== 'fetching') return;
  move(project, first, 'ended');
  first.endedAt = at;
}

/** Before the hand-over an edit replaces the text; afterwards it is a message of its own, a correction. */
function addEdit(project: ProjectState, row: EditRow, at: number): void {
  const { editOf, text } = row;
  const target = project.messages.get(editOf);
  project.known.set(row.id, at);
  if (target?.phase === 'waiting' || target?.phase === 'fetching') {
    const by = { id: row.id, seq: row.seq, at: row.at };
    project.replaced.set(editOf, [...(project.replaced.get(editOf) ?? []), { text: target.row.text, by }]);
    const forwarded = row.forwarded ?? target.row.forwarded;
    target.row = { ...target.row, text, ...(forwarded ? { forwarded } : {}) };
    target.filedAt = undefined;
    return;
  }
  const expiresAt = target?.row.expiresAt ?? Number.MAX_SAFE_INTEGER;
  const forwarded = row.forwarded ?? target?.row.forwarded;
  const { seq, id, at: sentAt } = row;
  const words = { text, ...(forwarded ? { forwarded } : {}) };
  hold(project, { seq, id, at: sentAt, kind: 'message', ...words, expiresAt, corrects: editOf });
}

/** The coding agent got a text to which an edit has been journalled meanwhile: the newest words follow as a correction. */
export function correctStale(
  project: ProjectState,
  message: HeldMessage,
  { ids, edits: ofEach }: { ids: string[]; edits?: number[] },
): void {
  const { id, text, expiresAt } = message.row;
  const edits = ofEach?.[ids.indexOf(id)];
  if (edits === undefined) return;
  const versions = project.replaced.get(id) ?? [];
  const [given, newest] = [versions[edits], versions.at(-1)];
  if (!given || !newest) return;
  message.row = { ...message.row, text: given.text };
  project.replaced.set(id, versions.slice(0, edits));
  const { forwarded } = message.row;
  const words = { text, ...(forwarded ? { forwarded } : {}) };
  hold(project, { ...newest.by, kind: 'message', ...words, expiresAt, corrects: id });
}

/** The control's words become a message under the control's id; of a message that is one already, only the mark is set. */
export function keepForLater(project: ProjectState, id: string): void {
  const row = project.controls.get(id);
  if (row?.control.type === 'command') {
    project.controls.delete(id);
    const { seq, at, control } = row;
    hold(project, { seq, id, at, kind: 'message', text: control.args, expiresAt: at + relayLimits.messageTtlMs });
    // What came after the control may wait already.
    for (const message of held(project, [id])) move(project, message, 'waiting');
  }
  for (const message of held(project, [id])) message.later = true;
}

/** A message that contains the word stop puts a STOP beside itself, once. */
export function addStopWord(project: ProjectState, id: string, at: number): void {
  const [message] = held(project, [id]);
  const stopId = stopWordId(id);
  if (!message || project.known.has(stopId)) return;
  const { seq, at: sentAt } = message.row;
  const control = { type: 'stop', text: message.row.text } as const;
  project.controls.set(stopId, { seq, id: stopId, at: sentAt, kind: 'control', control });
  project.known.set(stopId, at);
}

function hold(project: ProjectState, row: MessageRow): void {
  const message: HeldMessage = {
    row,
    attempt: 0,
    phase: row.files?.length ? 'fetching' : 'waiting',
    fileLines: [],
    filedAt: undefined,
    hand: undefined,
    later: false,
    parked: 'no',
    lease: undefined,
    ended: undefined,
    endedAt: undefined,
  };
  project.messages.set(row.id, message);
  project[message.phase === 'fetching' ? 'fetching' : 'waiting'].set(row.id, message);
}

/** Into another phase, with the lists of the project in step; a lease ends with any move. */
export function move(project: ProjectState, message: HeldMessage, phase: HeldMessage['phase']): void {
  const { id } = message.row;
  message.phase = phase;
  message.lease = undefined;
  project.leased.delete(id);
  if (phase !== 'waiting') {
    project.waiting.delete(id);
    project.fetching.delete(id);
    if (phase === 'leased') project.leased.set(id, message);
    return;
  }
  // A returned message is older than what waits behind it, so the order is made anew; this is rare.
  const others = [...project.waiting.values()].filter((each) => each !== message);
  const ordered = [...others, message].sort((a, b) => a.row.seq - b.row.seq);
  project.waiting.clear();
  for (const each of ordered) project.waiting.set(each.row.id, each);
}

/** Notes what the relay must be told, unless it is to be told something higher already. */
export function report(project: ProjectState, message: HeldMessage, state: ReportedState, at: number): void {
  const receipt: Receipt = { id: message.row.id, attempt: message.attempt, state, at };
  const pending = project.receipts.get(receipt.id);
  if (!pending || supersedes(receipt, pending)) project.receipts.set(receipt.id, receipt);
}
