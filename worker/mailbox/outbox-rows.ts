// The rows of what goes to the phone: one per platform call, kept by key and part, in line by class. Decides nothing.

import type { OutboxOutcome, TextEntity } from '../../protocol/relay-api.ts';
import { outboxClasses } from '../../protocol/relay-api.ts';
import type { Droppable, OutboundButton } from '../platform.ts';
import type { Sql } from './store.ts';

/** What a row asks for; ids of ours, resolved to the platform's when it is sent. */
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
  | { kind: 'acknowledge'; queryRef: string; text: string };

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
  /** What the platform refused, comma separated. */
  without: string;
  attempts: number;
  next_at: number;
  accepted_at: number;
  expires_at: number;
  settled_at: number | null;
  ref: string | null;
  error_code: string | null;
  error_reason: string | null;
};

type SlotRow = { rev: number; key: string; ref: string | null };

/** Where a key goes whose calls keep failing, so that it holds up nobody; behind every class. */
const slowLane = outboxClasses.length;

/** Answers to taps. They cost no turn of the chat and go when nothing that people read may go. */
export const tapLane = slowLane + 1;

/** What has no outcome: it may be lost. */
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
  acceptedAt: number;
  expiresAt: number;
}

export function insertRow(sql: Sql, row: NewOutboxRow): void {
  sql.exec(
    `INSERT INTO outbox (key, part, project, class, n, waiting, state, call, slot, accepted_at, expires_at)
     VALUES (?, ?, ?, ?, ?, 1, 'queued', ?, ?, ?, ?)`,
    row.key,
    row.part,
    row.project,
    row.class,
    row.n ?? lastPosition(sql, row.class) + 1,
    JSON.stringify(row.call),
    row.slot,
    row.acceptedAt,
    row.expiresAt,
  );
}

/** Of what waits in a class; 0 = nothing does. */
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
  sql.exec('UPDATE outbox SET call = ? WHERE key = ? AND part = ?', call, row.key, row.part);
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

/** Takes back what the relay itself has queued under this name and not begun to send. */
export function dropQueued(sql: Sql, outboxClass: number, project: number, slot: string): void {
  sql.exec(
    `DELETE FROM outbox WHERE waiting = 1 AND class = ? AND project = ? AND slot = ? AND state = 'queued' AND key LIKE '${ownKeyPrefix}%'`,
    outboxClass,
    project,
    slot,
  );
}

/** Leaves the newest of a class that wait. */
export function dropOldest(sql: Sql, outboxClass: number, kept: number): void {
  sql.exec(
    `DELETE FROM outbox WHERE waiting = 1 AND class = ? AND state = 'queued'
     AND n <= (SELECT n FROM outbox WHERE waiting = 1 AND class = ? ORDER BY n DESC LIMIT 1 OFFSET ?)`,
    outboxClass,
    outboxClass,
    kept,
  );
}

/** Moves what waits of a key to the end of the slow lane, its parts in order. */
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
  sql.exec(
    "UPDATE outbox SET state = 'sending', attempts = attempts + 1 WHERE key = ? AND part = ?",
    row.key,
    row.part,
  );
}

export function markSent(sql: Sql, row: OutboxRow, ref: string | null, nowMs: number): void {
  if (isOver(sql, row)) return;
  sql.exec(
    "UPDATE outbox SET waiting = 0, state = 'sent', call = '', ref = ?, settled_at = ? WHERE key = ? AND part = ?",
    ref,
    nowMs,
    row.key,
    row.part,
  );
}

/** Nobody asks what became of the answer to a tap. */
function isOver(sql: Sql, { key, class: lane }: OutboxRow): boolean {
  if (lane === tapLane) sql.exec('DELETE FROM outbox WHERE key = ?', key);
  return lane === tapLane;
}

/** The call stays in the row, for whoever retries the letter. */
export function markDead(sql: Sql, row: OutboxRow, code: string, reason: string, nowMs: number): void {
  if (isOver(sql, row)) return;
  sql.exec(
    `UPDATE outbox SET waiting = 0, state = 'dead', error_code = ?, error_reason = ?, settled_at = ?
     WHERE key = ? AND part = ?`,
    code,
    reason,
    nowMs,
    row.key,
    row.part,
  );
}

export function requeue(sql: Sql, row: OutboxRow, nextAt: number, without: string): void {
  sql.exec(
    "UPDATE outbox SET state = 'queued', next_at = ?, without = ? WHERE key = ? AND part = ?",
    nextAt,
    without,
    row.key,
    row.part,
  );
}

export function droppedOf(row: OutboxRow): Droppable[] {
  return row.without === '' ? [] : (row.without.split(',') as Droppable[]);
}
