// State changes of the messages of a project: accepted, edited, moved from phase to phase, reported. Called by `apply` alone.

import { relayLimits } from '../../protocol/limits.ts';
import type { EditRow, MessageRow, OutcomeRow, Row } from '../../protocol/log.ts';
import type { Receipt, ReportedState } from '../../protocol/receipts.ts';
import { supersedes } from '../../protocol/receipts.ts';
import { type HeldMessage, isKnown, type ProjectState, stopWordId } from './state.ts';

/** The messages of `ids` that the project holds, in that order. */
export function held(project: ProjectState, ids: string[]): HeldMessage[] {
  return ids.flatMap((id) => project.messages.get(id) ?? []);
}

/** Adds a row of the relay's log, unless the journal knows the row. */
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

/** The owner sent the message again, so the first copy ends if it still waits. The relay knows that, so nothing is reported. */
function replaceByRetry(project: ProjectState, id: string, at: number): void {
  const first = project.messages.get(id);
  if (first?.phase !== 'waiting' && first?.phase !== 'fetching') return;
  move(project, first, 'ended');
  first.endedAt = at;
}

/** Before the hand-over an edit replaces the text; afterwards the edit is a new message, a correction. */
function addEdit(project: ProjectState, row: EditRow, at: number): void {
  const { editOf, text } = row;
  const target = project.messages.get(editOf);
  project.known.set(row.id, at);
  if (target?.phase === 'waiting' || target?.phase === 'fetching') {
    const by = { id: row.id, seq: row.seq, at: row.at };
    project.replaced.set(editOf, [...(project.replaced.get(editOf) ?? []), { text: target.row.text, by }]);
    const forwarded = row.forwarded ?? target.row.forwarded;
    const { workflow, ...earlier } = target.row;
    // The words below a file name no workflow.
    const named = earlier.files?.length ? {} : namedBy(row);
    target.row = { ...earlier, text, ...named, ...(forwarded ? { forwarded } : {}) };
    target.filedAt = undefined;
    if (target.row.workflow && target.phase === 'waiting') move(project, target, 'fetching');
    if (!target.row.workflow && target.phase === 'fetching' && !target.row.files?.length)
      move(project, target, 'waiting');
    return;
  }
  const { seq, id, at: sentAt } = row;
  const expiresAt = target?.row.expiresAt ?? sentAt + relayLimits.messageTtlMs;
  const forwarded = row.forwarded ?? target?.row.forwarded;
  const words = { text, ...namedBy(row), ...(forwarded ? { forwarded } : {}) };
  // The agent never saw what the owner was asked about.
  const corrects = target?.ended === 'refused' ? {} : { corrects: editOf };
  hold(project, { seq, id, at: sentAt, kind: 'message', ...words, expiresAt, ...corrects });
}

function namedBy({ workflow }: EditRow): { workflow?: true } {
  return workflow ? { workflow } : {};
}

/** The coding agent got a text that was edited meanwhile: the newest text follows as a correction. */
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

/** Turns the text of a control into a message with the id of the control. A message only gets the mark. */
export function keepForLater(project: ProjectState, id: string): void {
  const row = project.controls.get(id);
  if (row?.control.type === 'command') becomeMessage(project, id, row.control.args);
  for (const message of held(project, [id])) message.later = true;
}

/** A control becomes a message with its id. */
export function becomeMessage(project: ProjectState, id: string, text: string): void {
  const row = project.controls.get(id);
  if (!row) return;
  project.controls.delete(id);
  const { seq, at } = row;
  hold(project, { seq, id, at, kind: 'message', text, expiresAt: at + relayLimits.messageTtlMs });
}

/** A message that contains the word stop also creates a STOP control, once. */
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
    phase: row.files?.length || row.workflow ? 'fetching' : 'waiting',
    fileLines: [],
    later: false,
    parked: 'no',
  };
  project.messages.set(row.id, message);
  list(project, message);
}

/** Changes the phase; every move ends a lease. */
export function move(project: ProjectState, message: HeldMessage, phase: HeldMessage['phase']): void {
  message.phase = phase;
  message.lease = undefined;
  list(project, message);
}

/** Puts a message into the list of its phase. A message that waits again is older than others there. */
export function list(project: ProjectState, message: HeldMessage): void {
  const { row, phase } = message;
  for (const each of [project.fetching, project.waiting, project.leased]) each.delete(row.id);
  if (phase === 'fetching' || phase === 'leased') project[phase].set(row.id, message);
  if (phase !== 'waiting') return;
  const later = [...project.waiting.values()].filter((each) => each.row.seq > row.seq);
  for (const each of [message, ...later]) {
    project.waiting.delete(each.row.id);
    project.waiting.set(each.row.id, each);
  }
}

/** Stores a receipt for the relay, unless a pending receipt supersedes it. */
export function report(project: ProjectState, message: HeldMessage, state: ReportedState, at: number): void {
  const receipt: Receipt = { id: message.row.id, attempt: message.attempt, state, at };
  const pending = project.receipts.get(receipt.id);
  if (!pending || supersedes(receipt, pending)) project.receipts.set(receipt.id, receipt);
}
