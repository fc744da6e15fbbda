// What the journal's lines add up to. `apply` is the only writer of this state; it is pure bookkeeping, without I/O or clock.

import { relayLimits } from '../../protocol/limits.ts';
import type { ControlRow, MessageRow, Row } from '../../protocol/log.ts';
import type { Receipt, ReportedState } from '../../protocol/receipts.ts';
import { supersedes } from '../../protocol/receipts.ts';
import type { KeyState, OutboxItem } from '../../protocol/relay-api.ts';
import type { Sprint } from '../../protocol/sprint.ts';
import { type ApprovalState, applyApproval, emptyApprovals } from './approvals.ts';
import type { FiledAnswer, JournalRecord, LeaseHolder, ProjectRecord, SettingName, StoredDocument } from './records.ts';

export interface Hand {
  session: string;
  transcript: string | null;
  offset: number;
  at: number;
}

export interface Lease {
  holder: LeaseHolder;
  at: number;
  untilAt: number;
  /** The holder has sent something to the phone since. */
  replied: boolean;
}

export interface HeldMessage {
  row: MessageRow;
  attempt: number;
  /** `fetching`: its files are not here yet, so that nobody may see it. */
  phase: 'fetching' | 'waiting' | 'leased' | 'handed' | 'injected' | 'ended';
  /** What became of its files. */
  fileLines: string[];
  /** When we last wrote it to the inbox file; undefined = never. */
  filedAt: number | undefined;
  hand: Hand | undefined;
  /** Not into a running turn. */
  later: boolean;
  /** `parked` = sent before a STOP, and not handed over; `released` = it was. */
  parked: 'no' | 'parked' | 'released';
  /** Set in phase `leased` alone. */
  lease: Lease | undefined;
  ended: ReportedState | undefined;
  endedAt: number | undefined;
}

export interface OutboxKey {
  key: string;
  at: number;
  state: KeyState | 'open';
  error: { code: string; reason: string } | undefined;
  source:
    | { kind: 'file'; answer: FiledAnswer; replyTo: string | undefined }
    | { kind: 'item'; item: OutboxItem }
    | { kind: 'document'; document: StoredDocument };
}

/** An earlier text of a message, and the edit that took its place. */
export interface Replaced {
  text: string;
  by: { id: string; seq: number; at: number };
}

export interface ProjectState {
  readonly key: string;
  epoch: string | null;
  /** Highest seq whose line is in the journal; what the next poll acknowledges. */
  cursor: number;
  readonly messages: Map<string, HeldMessage>;
  /** Those in phase `fetching`, in order. */
  readonly fetching: Map<string, HeldMessage>;
  /** Those in phase `waiting`, oldest first. */
  readonly waiting: Map<string, HeldMessage>;
  /** Those in phase `leased`. */
  readonly leased: Map<string, HeldMessage>;
  /** Messages whose text an edit replaced: the old text, which must not come back. */
  readonly replaced: Map<string, Replaced[]>;
  /** Controls not yet spent, in order. */
  readonly controls: Map<string, ControlRow>;
  /** Ids of controls and ended messages, against a second delivery; value = when. */
  readonly known: Map<string, number>;
  /** Reports that the relay has not confirmed. */
  readonly receipts: Map<string, Receipt>;
  readonly outbox: Map<string, OutboxKey>;
  /** Keys of `outbox` without an outcome. */
  readonly openKeys: Set<string>;
  readonly settings: Map<SettingName, boolean>;
  readonly approvals: ApprovalState;
  sprint: Sprint | undefined;
}

export type JournalState = Map<string, ProjectState>;

export function emptyProject(key: string): ProjectState {
  return {
    key,
    epoch: null,
    cursor: 0,
    messages: new Map(),
    fetching: new Map(),
    waiting: new Map(),
    leased: new Map(),
    replaced: new Map(),
    controls: new Map(),
    known: new Map(),
    receipts: new Map(),
    outbox: new Map(),
    openKeys: new Set(),
    settings: new Map(),
    approvals: emptyApprovals(),
    sprint: undefined,
  };
}

export function apply(state: JournalState, record: JournalRecord): void {
  if (record.t === 'journal') return;
  let project = state.get(record.p);
  if (!project) {
    project = emptyProject(record.p);
    state.set(record.p, project);
  }
  applyToProject(project, record);
}

function applyToProject(project: ProjectState, record: ProjectRecord): void {
  switch (record.t) {
    case 'epoch':
      project.epoch = record.epoch;
      project.cursor = record.cursor;
      return;
    case 'row':
      addRow(project, record.row, record.at);
      if (!record.ahead && record.row.seq > project.cursor) project.cursor = record.row.seq;
      return;
    case 'filed':
      for (const message of held(project, record.ids)) message.filedAt = record.at;
      return;
    case 'handed':
      for (const message of held(project, record.ids)) {
        const { session, transcript, offset, at } = record;
        move(project, message, 'handed');
        message.hand = { session, transcript, offset, at };
        correctStale(project, message, record);
      }
      return;
    case 'proved':
      for (const message of held(project, record.ids)) {
        move(project, message, 'injected');
        report(project, message, 'injected', record.at);
      }
      return;
    case 'returned':
      for (const message of held(project, record.ids)) {
        message.attempt += 1;
        message.hand = undefined;
        message.filedAt = undefined;
        move(project, message, 'waiting');
      }
      return;
    case 'ended':
      for (const message of held(project, record.ids)) {
        move(project, message, 'ended');
        message.ended = record.state;
        message.endedAt = record.at;
        report(project, message, record.state, record.at);
      }
      return;
    case 'leased':
      for (const message of held(project, record.ids)) {
        const { holder, untilAt, at } = record;
        move(project, message, 'leased');
        message.lease = { holder, at, untilAt, replied: false };
        correctStale(project, message, record);
      }
      return;
    case 'replied':
      for (const { lease } of held(project, record.ids)) if (lease) lease.replied = true;
      return;
    case 'unleased':
      // What a hook alone has handed over meanwhile, or what ended, is no longer the lease's to give back.
      for (const message of held(project, record.ids)) {
        if (message.phase !== 'leased') continue;
        if (!record.ungiven) {
          message.attempt += 1;
          message.filedAt = undefined;
        }
        move(project, message, 'waiting');
      }
      return;
    case 'receipted':
      for (const receipt of record.receipts) {
        const pending = project.receipts.get(receipt.id);
        if (pending && !supersedes(pending, receipt)) project.receipts.delete(receipt.id);
      }
      return;
    case 'fetched':
      for (const message of held(project, [record.id])) {
        if (message.phase !== 'fetching') continue;
        message.fileLines = record.lines;
        project.fetching.delete(record.id);
        move(project, message, 'waiting');
      }
      return;
    case 'later':
      keepForLater(project, record.id);
      return;
    case 'stopWord':
      addStopWord(project, record.id, record.at);
      return;
    case 'parked':
    case 'unparked':
      for (const message of held(project, record.ids)) message.parked = record.t === 'parked' ? 'parked' : 'released';
      return;
    case 'sprint':
      project.sprint = record.sprint ?? undefined;
      return;
    case 'setting':
      project.settings.set(record.name, record.value);
      return;
    case 'spent':
      for (const id of record.ids) project.controls.delete(id);
      return;
    case 'entry':
      addKey(project, record.key, record.at, { kind: 'file', answer: record.answer, replyTo: record.replyTo });
      return;
    case 'item':
      addKey(project, record.key, record.at, { kind: 'item', item: record.item });
      return;
    case 'document':
      addKey(project, record.key, record.at, { kind: 'document', document: record.document });
      return;
    case 'key': {
      const key = project.outbox.get(record.key);
      if (!key) return;
      key.state = record.state;
      key.error = record.error;
      if (record.state === 'sent' || record.state === 'dead') project.openKeys.delete(record.key);
      else project.openKeys.add(record.key);
      return;
    }
    case 'known':
      for (const id of record.ids) project.known.set(id, record.at);
      return;
    case 'approvals':
    case 'asked':
    case 'decided':
    case 'usage':
      applyApproval(project.approvals, record, record.at);
      return;
    default:
      // A kind that only a newer minor version writes: the version line guards what must not be skipped.
      record satisfies never;
  }
}

function held(project: ProjectState, ids: string[]): HeldMessage[] {
  return ids.flatMap((id) => project.messages.get(id) ?? []);
}

function addRow(project: ProjectState, row: Row, at: number): void {
  if (isKnown(project, row.id)) return;
  if (row.kind === 'control') {
    project.controls.set(row.id, row);
    project.known.set(row.id, at);
    return;
  }
  if (row.kind === 'edit') {
    addEdit(project, row.editOf, row.text, row, at);
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
function addEdit(project: ProjectState, editOf: string, text: string, row: Row, at: number): void {
  const target = project.messages.get(editOf);
  project.known.set(row.id, at);
  if (target?.phase === 'waiting' || target?.phase === 'fetching') {
    const by = { id: row.id, seq: row.seq, at: row.at };
    project.replaced.set(editOf, [...(project.replaced.get(editOf) ?? []), { text: target.row.text, by }]);
    target.row = { ...target.row, text };
    target.filedAt = undefined;
    return;
  }
  const expiresAt = target?.row.expiresAt ?? Number.MAX_SAFE_INTEGER;
  hold(project, { seq: row.seq, id: row.id, at: row.at, kind: 'message', text, expiresAt, corrects: editOf });
}

/** The coding agent got a text to which an edit has been journalled meanwhile: the newest words follow as a correction. */
function correctStale(
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
  hold(project, { ...newest.by, kind: 'message', text, expiresAt, corrects: id });
}

/** How many edits the text had that was given: one may be journalled while it is on its way. `isGiven` = of a text as the coding agent reads it. */
export function editsIn(project: ProjectState, id: string, isGiven: (text: string) => boolean): number {
  const message = project.messages.get(id);
  if (!message) return 0;
  const earlier = project.replaced.get(id) ?? [];
  const index = earlier.findLastIndex(({ text }) => isGiven(textOf(message, text)));
  return isGiven(textOf(message)) || index === -1 ? earlier.length : index;
}

/** The control's words become a message under the control's id; of a message that is one already, only the mark is set. */
function keepForLater(project: ProjectState, id: string): void {
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

/** The id of the STOP that a message with the word stop makes. */
export function stopWordId(id: string): string {
  return `${id}#stop`;
}

function addStopWord(project: ProjectState, id: string, at: number): void {
  const [message] = held(project, [id]);
  const stopId = stopWordId(id);
  if (!message || project.known.has(stopId)) return;
  const { seq, at: sentAt } = message.row;
  const control = { type: 'stop', text: textOf(message) } as const;
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

function move(project: ProjectState, message: HeldMessage, phase: HeldMessage['phase']): void {
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

function report(project: ProjectState, message: HeldMessage, state: ReportedState, at: number): void {
  const receipt: Receipt = { id: message.row.id, attempt: message.attempt, state, at };
  const pending = project.receipts.get(receipt.id);
  if (!pending || supersedes(receipt, pending)) project.receipts.set(receipt.id, receipt);
}

function addKey(project: ProjectState, key: string, at: number, source: OutboxKey['source']): void {
  if (project.outbox.has(key)) return;
  project.outbox.set(key, { key, at, state: 'open', error: undefined, source });
  project.openKeys.add(key);
}

/** True for a row that was journalled before: the relay sends again what it is not sure about. */
export function isKnown(project: ProjectState, id: string): boolean {
  return project.messages.has(id) || project.known.has(id);
}

/** What the coding agent reads: what was quoted, the owner's words, and where the files lie. `words` = an earlier version of them. */
export function textOf({ row, fileLines }: HeldMessage, words: string = row.text): string {
  const quoted = row.quote ? row.quote.split('\n').map((line) => `> ${line}`) : [];
  return [...quoted, words, ...fileLines].filter((line) => line !== '').join('\n');
}
