// The rows of what goes to the phone: one per platform call, kept by key and part, in line by class. Decides nothing.

import { type OutboxOutcome, outboxClasses, type TextEntity } from '../../../protocol/relay-api.ts';
import type { Droppable, OutboundButton } from '../../platform.ts';
import { insert, type Sql, update } from './sql.ts';

/** The call of a row with the relay's ids, which become the platform's ids when the row is sent. */
export type StoredCall =
  | {
      kind: 'text';
      text: string;
      entities: TextEntity[];
      buttons: OutboundButton[][];
      replyTo?: string;
      replyAction?: string;
    }
  | { kind: 'buttons'; ref: string; buttons: OutboundButton[][] }
  | { kind: 'acknowledge'; queryRef: string; text: string }
  /** The commands of the phone, as they are when it is sent. */
  | { kind: 'menu' };

export type OutboxRow = {
  key: string;
  part: number;
  project: number;
  class: number;
  /** Position: rises, FIFO inside a class. */
  n: number;
  waiting: 0 | 1;
  state: OutboxOutcome['state'];
  /** JSON of `StoredCall`; emptied once it is sent, kept in a dead letter. */
  call: string;
  slot: string | null;
  /** `Droppable`s that the platform refused, comma separated. */
  without: string;
  attempts: number;
  next_at: number;
  accepted_at: number;
  expires_at: number;
  settled_at: number | null;
  ref: string | null;
  /** The owner has retried or dropped it. */
  letter_done: 0 | 1;
  error_code: string | null;
  error_reason: string | null;
};

type SlotRow = { rev: number; key: string; ref: string | null };

/** The lane of keys whose calls keep failing, behind every class: other keys need not wait for them. */
const slowLane = outboxClasses.length;

/** Answers to taps, and the menu. They cost no turn of the chat and go when nothing that people read may go. */
export const tapLane = slowLane + 1;

/** Rows of this class have no outcome: they may be lost. */
export const progressClass = outboxClasses.indexOf('progress');

/** Keys of the relay's own messages hold a colon, which no key of a daemon can. */
export const ownKeyPrefix = 'relay:';

export function isOwnKey(key: string): boolean {
  return key.startsWith(ownKeyPrefix);
}

interface NewOutboxRow {
  key: string;
  part: number;
  project: number;
  class: number;
  /** Undefined = behind everything that waits. */
  n: number | undefined;
  call: StoredCall;
  slot: string | null;
  accepted_at: number;
  expires_at: number;
}

type RowKey = Pick<OutboxRow, 'key' | 'part'>;

export function insertRow(sql: Sql, row: NewOutboxRow): void {
  const { n = lastPosition(sql, row.class) + 1, call } = row;
  insert(sql, 'outbox', { ...row, n, call: JSON.stringify(call), waiting: 1, state: 'queued' });
}

/** Writes columns of a row. */
export function setRow(sql: Sql, { key, part }: RowKey, columns: Partial<OutboxRow>): void {
  update(sql, 'outbox', columns, { key, part });
}

/** The last position that waits in a class; 0 = no row waits. */
export function lastPosition(sql: Sql, outboxClass: number): number {
  const last = sql.exec<{ n: number }>(
    'SELECT n FROM outbox INDEXED BY outbox_waiting WHERE waiting = 1 AND class = ? ORDER BY n DESC LIMIT 1',
    outboxClass,
  )[0];
  return last?.n ?? 0;
}

export function readOutboxRow(sql: Sql, key: string, part: number): OutboxRow | undefined {
  return sql.exec<OutboxRow>('SELECT * FROM outbox WHERE key = ? AND part = ?', key, part)[0];
}

/** Below a text that still waits, or is on its way and shows them when it is sent again. */
export function addButtons(sql: Sql, row: OutboxRow, buttons: OutboundButton[][]): void {
  const call = JSON.stringify({ ...(JSON.parse(row.call) as StoredCall), buttons });
  setRow(sql, row, { call });
}

/** The oldest waiting row of each class, in the order of the classes; then the slow lane, then the answers to taps. */
export function readHeads(sql: Sql): OutboxRow[] {
  return [...outboxClasses.keys(), slowLane, tapLane].flatMap((index) =>
    sql.exec<OutboxRow>(
      'SELECT * FROM outbox INDEXED BY outbox_waiting WHERE waiting = 1 AND class = ? ORDER BY n LIMIT 1',
      index,
    ),
  );
}

/** Deletes the relay's own rows of this slot that are still queued. */
export function dropQueued(sql: Sql, outboxClass: number, project: number, slot: string): void {
  sql.exec(
    `DELETE FROM outbox WHERE waiting = 1 AND class = ? AND project = ? AND slot = ? AND state = 'queued' AND key LIKE '${ownKeyPrefix}%'`,
    outboxClass,
    project,
    slot,
  );
}

/** Keeps the newest `kept` rows that wait in a class. */
export function dropOldest(sql: Sql, outboxClass: number, kept: number): void {
  sql.exec(
    `DELETE FROM outbox WHERE waiting = 1 AND class = ? AND state = 'queued'
     AND n <= (SELECT n FROM outbox WHERE waiting = 1 AND class = ? ORDER BY n DESC LIMIT 1 OFFSET ?)`,
    outboxClass,
    outboxClass,
    kept,
  );
}

/** Moves the waiting parts of a key to the end of the slow lane, in order. */
export function moveToSlowLane(sql: Sql, key: string): void {
  sql.exec(
    'UPDATE outbox SET class = ?, n = ? + part WHERE key = ? AND waiting = 1',
    slowLane,
    lastPosition(sql, slowLane) + 1,
    key,
  );
}

/** The newest rev of a slot, and the message that shows it. */
export function readSlot(sql: Sql, project: number, slot: string): SlotRow | undefined {
  return sql.exec<SlotRow>('SELECT rev, key, ref FROM slot WHERE project = ? AND slot = ?', project, slot)[0];
}

export function setSlotRef(sql: Sql, project: number, slot: string, ref: string | null): void {
  sql.exec('UPDATE slot SET ref = ? WHERE project = ? AND slot = ?', ref, project, slot);
}

export function markSending(sql: Sql, row: OutboxRow): void {
  setRow(sql, row, { state: 'sending', attempts: row.attempts + 1 });
}

/** `awaits` = the platform will say whether it arrived: until then the call stays, for a dead letter. */
export function markSent(sql: Sql, row: OutboxRow, ref: string | null, nowMs: number, awaits = false): void {
  if (isOver(sql, row)) return;
  const call = awaits && ref !== null && row.class !== progressClass ? row.call : '';
  setRow(sql, row, { waiting: 0, state: 'sent', call, ref, settled_at: nowMs });
}

/** The newest row that was sent as this message of the platform and is not known to have arrived. */
export function readAwaited(sql: Sql, ref: string): OutboxRow | undefined {
  return sql.exec<OutboxRow>(
    "SELECT * FROM outbox INDEXED BY outbox_awaited WHERE ref = ? AND call <> '' ORDER BY accepted_at DESC LIMIT 1",
    ref,
  )[0];
}

/** The answer to a tap has no outcome: its row is deleted. */
function isOver(sql: Sql, { key, class: lane }: OutboxRow): boolean {
  if (lane === tapLane) sql.exec('DELETE FROM outbox WHERE key = ?', key);
  return lane === tapLane;
}

/** The call stays in the row, so that the dead letter can be retried. */
export function markDead(sql: Sql, row: OutboxRow, code: string, reason: string, nowMs: number): void {
  if (isOver(sql, row)) return;
  setRow(sql, row, { waiting: 0, state: 'dead', error_code: code, error_reason: reason, settled_at: nowMs });
}

export function requeue(sql: Sql, row: OutboxRow, next_at: number, without: string): void {
  setRow(sql, row, { state: 'queued', next_at, without });
}

export function droppedOf(row: OutboxRow): Droppable[] {
  return row.without === '' ? [] : (row.without.split(',') as Droppable[]);
}
