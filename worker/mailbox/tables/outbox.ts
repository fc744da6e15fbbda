// The rows of what goes to the phone: one per platform call, kept by project, key and part, in line by class. Decides nothing. Two
// projects may post the same key: each has its own.

import { type OutboxOutcome, outboxClasses, type TextEntity } from '../../../protocol/relay-api.ts';
import type { Droppable, OutboundButton } from '../../platform.ts';
import { cacheOf } from './cache.ts';
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
      /** Edits this message of the platform, and is dropped when that is gone. */
      edits?: string;
      replyHint?: string;
    }
  /** For the message that shows the row of the key, or that has this id at the platform. */
  | { kind: 'buttons'; key: string; part: number; buttons: OutboundButton[][] }
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
  /** 1 = the owner has retried or dropped the dead letter. */
  dlq_done: 0 | 1;
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

type NewOutboxRow = Pick<OutboxRow, 'key' | 'part' | 'project' | 'class' | 'slot' | 'accepted_at' | 'expires_at'> & {
  /** Undefined = behind everything that waits. */
  n?: number | undefined;
  call: StoredCall;
};

export function insertRow(sql: Sql, row: NewOutboxRow): void {
  const { n = lastPosition(sql, row.class) + 1, call } = row;
  cacheOf(sql).outboxEmpty = false;
  insert(sql, 'outbox', { ...row, n, call: JSON.stringify(call), waiting: 1, state: 'queued' });
}

/** The row of a document holds no call: the bytes of the document pass through and are not kept. */
export function insertDocument(sql: Sql, project: number, key: string, nowMs: number): void {
  const times = { accepted_at: nowMs, expires_at: nowMs, settled_at: nowMs };
  const state = { waiting: 0, state: 'sending', call: '', attempts: 1 };
  insert(sql, 'outbox', { key, part: 0, project, class: outboxClasses.indexOf('answer'), n: 0, ...state, ...times });
}

/** Writes columns of a row. */
export function setRow(sql: Sql, { project, key, part }: OutboxRow, columns: Partial<OutboxRow>): void {
  if (columns.waiting === 1) cacheOf(sql).outboxEmpty = false;
  update(sql, 'outbox', columns, { project, key, part });
}

/** The last position that waits in a class; 0 = no row waits. */
export function lastPosition(sql: Sql, outboxClass: number): number {
  const last = sql.exec<{ n: number }>(
    'SELECT n FROM outbox INDEXED BY outbox_waiting WHERE waiting = 1 AND class = ? ORDER BY n DESC LIMIT 1',
    outboxClass,
  )[0];
  return last?.n ?? 0;
}

export function readOutboxRow(sql: Sql, project: number, key: string, part: number): OutboxRow | undefined {
  const query = 'SELECT * FROM outbox WHERE project = ? AND key = ? AND part = ?';
  return sql.exec<OutboxRow>(query, project, key, part)[0];
}

/** Below a text that still waits, or is on its way and shows them when it is sent again. */
export function addButtons(sql: Sql, row: OutboxRow, buttons: OutboundButton[][]): void {
  const call = JSON.stringify({ ...(JSON.parse(row.call) as StoredCall), buttons });
  setRow(sql, row, { call });
}

/** The oldest waiting row of each class, in the order of the classes; then the slow lane, then the answers to taps. */
export function readHeads(sql: Sql): OutboxRow[] {
  const cache = cacheOf(sql);
  if (cache.outboxEmpty) return [];
  const heads = [...outboxClasses.keys(), slowLane, tapLane].flatMap((index) =>
    sql.exec<OutboxRow>(
      'SELECT * FROM outbox INDEXED BY outbox_waiting WHERE waiting = 1 AND class = ? ORDER BY n LIMIT 1',
      index,
    ),
  );
  cache.outboxEmpty = heads.length === 0;
  return heads;
}

/** The parts of a key, in order. */
export function readParts(sql: Sql, project: number, key: string): OutboxRow[] {
  return sql.exec<OutboxRow>('SELECT * FROM outbox WHERE project = ? AND key = ? ORDER BY part', project, key);
}

/** How many rows of daemons stand at each state, without the dead letters that the owner has retried or dropped. */
export function countStates(sql: Sql): Record<OutboxRow['state'], number> {
  const counted = sql.exec<{ state: OutboxRow['state']; count: number }>(
    `SELECT state, count(*) AS count FROM outbox
     WHERE key NOT LIKE '${ownKeyPrefix}%' AND (state <> 'dead' OR dlq_done = 0) GROUP BY state`,
  );
  const none = { queued: 0, sending: 0, sent: 0, dead: 0 };
  return { ...none, ...Object.fromEntries(counted.map(({ state, count }) => [state, count])) };
}

/** Which rows are dead letters. The row of a document holds no call: only its daemon has the bytes. */
const deadLetters = `project = ? AND state = 'dead' AND dlq_done = 0 AND call <> '' AND key NOT LIKE '${ownKeyPrefix}%'`;

export function countDeadKeys(sql: Sql, project: number): number {
  const query = `SELECT count(DISTINCT key) AS count FROM outbox WHERE ${deadLetters}`;
  return sql.exec<{ count: number }>(query, project)[0]?.count ?? 0;
}

/** The first dead part of each key, newest first. */
export function readDeadKeys(sql: Sql, project: number, limit: number): OutboxRow[] {
  const query = `SELECT *, min(part) FROM outbox WHERE ${deadLetters} GROUP BY key ORDER BY accepted_at DESC LIMIT ?`;
  return sql.exec<OutboxRow>(query, project, limit);
}

export function readDeadParts(sql: Sql, project: number, key: string): OutboxRow[] {
  return sql.exec<OutboxRow>(`SELECT * FROM outbox WHERE ${deadLetters} AND key = ? ORDER BY part`, project, key);
}

/** Ends the rows of a key that are still queued, as sent. Gives the first. */
export function supersede(
  sql: Sql,
  project: number,
  key: string,
  nowMs: number,
): Pick<OutboxRow, 'n' | 'class'> | undefined {
  return sql.exec<Pick<OutboxRow, 'n' | 'class'>>(
    `UPDATE outbox SET waiting = 0, state = 'sent', call = '', settled_at = ?
     WHERE project = ? AND key = ? AND waiting = 1 AND state = 'queued' RETURNING n, class`,
    nowMs,
    project,
    key,
  )[0];
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
export function moveToSlowLane(sql: Sql, { project, key }: Pick<OutboxRow, 'project' | 'key'>): void {
  sql.exec(
    'UPDATE outbox SET class = ?, n = ? + part WHERE project = ? AND key = ? AND waiting = 1',
    slowLane,
    lastPosition(sql, slowLane) + 1,
    project,
    key,
  );
}

/** The newest rev of a slot, and the message that shows it. */
export function readSlot(sql: Sql, project: number, slot: string): SlotRow | undefined {
  return sql.exec<SlotRow>('SELECT rev, key, ref FROM slot WHERE project = ? AND slot = ?', project, slot)[0];
}

/** Makes `key` the newest rev of a slot. */
export function setSlot(sql: Sql, project: number, slot: string, rev: number, key: string, nowMs: number): void {
  sql.exec(
    `INSERT INTO slot (project, slot, rev, key, at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (project, slot) DO UPDATE SET rev = excluded.rev, key = excluded.key, at = excluded.at`,
    project,
    slot,
    rev,
    key,
    nowMs,
  );
}

export function setSlotRef(sql: Sql, project: number, slot: string, ref: string | null): void {
  sql.exec('UPDATE slot SET ref = ? WHERE project = ? AND slot = ?', ref, project, slot);
}

/** `awaits` = the platform will say whether the message arrived: until then the call stays, for a dead letter. */
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

/** Whose message of the platform this is; undefined = none of a project in a topic. Reads the whole table. */
export function projectOfRef(sql: Sql, ref: string): number | undefined {
  const query = 'SELECT project FROM outbox WHERE project <> 0 AND ref = ? ORDER BY accepted_at DESC LIMIT 1';
  return sql.exec<{ project: number }>(query, ref)[0]?.project;
}

/** The answer to a tap has no outcome: its row is deleted. */
function isOver(sql: Sql, { project, key, class: lane }: OutboxRow): boolean {
  if (lane === tapLane) sql.exec('DELETE FROM outbox WHERE project = ? AND key = ?', project, key);
  return lane === tapLane;
}

/** The call stays in the row, so that the dead letter can be retried. */
export function markDead(sql: Sql, row: OutboxRow, error: { code: string; reason: string }, nowMs: number): void {
  if (isOver(sql, row)) return;
  const { code: error_code, reason: error_reason } = error;
  setRow(sql, row, { waiting: 0, state: 'dead', error_code, error_reason, settled_at: nowMs });
}

export function requeue(sql: Sql, row: OutboxRow, next_at: number, without: string): void {
  setRow(sql, row, { state: 'queued', next_at, without });
}

export function droppedOf(row: OutboxRow): Droppable[] {
  return row.without === '' ? [] : (row.without.split(',') as Droppable[]);
}

/** Deletes the rows that were settled before `before`, and the slots and their messages of that time. */
export function deleteSettled(sql: Sql, before: number): void {
  sql.exec('DELETE FROM outbox WHERE waiting = 0 AND settled_at < ?', before);
  sql.exec('DELETE FROM slot WHERE at < ?', before);
}
