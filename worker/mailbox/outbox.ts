// What waits to be sent: idempotent keys, one row per platform call, classes, slots. Never talks to a platform.

import { relayLimits } from '../../protocol/limits.ts';
import type { OutboxClass, OutboxItem, OutboxOutcome, TextEntity } from '../../protocol/relay-api.ts';
import { outboxClasses } from '../../protocol/relay-api.ts';
import type { Droppable, OutboundButton } from '../platform.ts';
import { issueButton } from './buttons.ts';
import type { Core } from './core.ts';
import { buttonForAnswer } from './retry-button.ts';
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

/** Keys of the relay's own messages hold a colon, which no key of a daemon can. */
export const ownKeyPrefix = 'relay:';

export function isOwnKey(key: string): boolean {
  return key.startsWith(ownKeyPrefix);
}

/** Some part of the key still waits. */
export function isOpen(sql: Sql, key: string): boolean {
  return sql.exec('SELECT part FROM outbox WHERE key = ? AND waiting = 1 LIMIT 1', key).length > 0;
}

/** Adds what is new and answers the state of each key, in the order of the items. */
export function postItems(
  core: Core,
  project: number,
  items: readonly OutboxItem[],
  nowMs: number,
): { outcomes: OutboxOutcome[]; added: boolean } {
  let added = false;
  const outcomes = items.map((item) => {
    const known = readOutcome(core.sql, item.key);
    if (known) return known;
    added = addItem(core, project, item, nowMs) || added;
    return readOutcome(core.sql, item.key) ?? { key: item.key, state: 'sent' as const };
  });
  return { outcomes, added };
}

/** False when a newer rev of the slot is already there: nothing is left to send. */
function addItem(core: Core, project: number, item: OutboxItem, nowMs: number): boolean {
  const { sql } = core;
  const slot = item.slot === undefined ? undefined : { name: item.slot, rev: item.rev ?? 0 };
  let position: number | undefined;
  if (slot) {
    const current = sql.exec<SlotRow>(
      'SELECT rev, key, ref FROM slot WHERE project = ? AND slot = ?',
      project,
      slot.name,
    )[0];
    if (current && current.rev >= slot.rev) return false;
    if (current) position = replaceWaiting(sql, current.key, nowMs);
    sql.exec(
      `INSERT INTO slot (project, slot, rev, key, at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (project, slot) DO UPDATE SET rev = excluded.rev, key = excluded.key, at = excluded.at`,
      project,
      slot.name,
      slot.rev,
      item.key,
      nowMs,
    );
  }
  const asked = (item.buttons ?? []).map((row) =>
    row.map((button) => issueButton(core, project, button, nowMs, item.key)),
  );
  const answersPlainly = asked.length === 0 && item.replyTo !== undefined;
  const buttons = answersPlainly ? buttonForAnswer(core, item.replyTo ?? '', nowMs) : asked;
  if (answersPlainly) core.recentAnswers.note(item.replyTo ?? '', item.key, item.parts.length - 1);
  item.parts.forEach((part, index) => {
    const isLast = index === item.parts.length - 1;
    insertRow(sql, {
      key: item.key,
      part: index,
      project,
      class: outboxClasses.indexOf(item.class),
      n: position,
      call: {
        kind: 'text',
        text: part.text,
        entities: part.entities,
        buttons: isLast ? buttons : [],
        ...(index === 0 && item.replyTo !== undefined ? { replyTo: item.replyTo } : {}),
        ...(isLast && item.replyAction !== undefined ? { replyAction: item.replyAction } : {}),
      },
      slot: slot?.name ?? null,
      acceptedAt: nowMs,
      expiresAt: nowMs + relayLimits.outboxTtlMs,
    });
  });
  return true;
}

/** An edit that still waits is overtaken by the newer one, which takes its place in the line. */
function replaceWaiting(sql: Sql, key: string, nowMs: number): number | undefined {
  return sql.exec<{ n: number }>(
    `UPDATE outbox SET waiting = 0, state = 'sent', call = '', settled_at = ?
     WHERE key = ? AND waiting = 1 AND state = 'queued' RETURNING n`,
    nowMs,
    key,
  )[0]?.n;
}

/** Queues a message of the relay itself; its outcome concerns no daemon. */
export function enqueueOwn(
  core: Core,
  project: number,
  call: StoredCall,
  options: { class?: OutboxClass; ttlMs?: number },
  nowMs: number,
): void {
  insertRow(core.sql, {
    key: `${ownKeyPrefix}${core.randomId()}`,
    part: 0,
    project,
    class: outboxClasses.indexOf(options.class ?? 'reply'),
    n: undefined,
    call,
    slot: null,
    acceptedAt: nowMs,
    expiresAt: nowMs + (options.ttlMs ?? relayLimits.outboxTtlMs),
  });
}

/** Plain text of the relay itself, in the topic of the project. */
export function tellPhone(
  core: Core,
  project: number,
  text: string,
  nowMs: number,
  below: { buttons?: OutboundButton[][]; replyTo?: string } = {},
): void {
  enqueueOwn(core, project, { kind: 'text', text, entities: [], buttons: [], ...below }, {}, nowMs);
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

function insertRow(sql: Sql, row: NewOutboxRow): void {
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

/** Below a text that still waits. */
export function addButtons(sql: Sql, row: OutboxRow, buttons: OutboundButton[][]): void {
  const call = JSON.stringify({ ...(JSON.parse(row.call) as StoredCall), buttons });
  sql.exec('UPDATE outbox SET call = ? WHERE key = ? AND part = ?', call, row.key, row.part);
}

/** The oldest waiting row of each class, in the order of the classes; the slow lane comes last. */
export function readHeads(sql: Sql): OutboxRow[] {
  return [...outboxClasses.keys(), slowLane].flatMap((index) =>
    sql.exec<OutboxRow>(
      'SELECT * FROM outbox INDEXED BY outbox_waiting WHERE waiting = 1 AND class = ? ORDER BY n LIMIT 1',
      index,
    ),
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

export function readSlotRef(sql: Sql, project: number, slot: string): string | null {
  return (
    sql.exec<SlotRow>('SELECT rev, key, ref FROM slot WHERE project = ? AND slot = ?', project, slot)[0]?.ref ?? null
  );
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
  sql.exec(
    "UPDATE outbox SET waiting = 0, state = 'sent', call = '', ref = ?, settled_at = ? WHERE key = ? AND part = ?",
    ref,
    nowMs,
    row.key,
    row.part,
  );
}

/** The call stays in the row, for whoever retries the letter. */
export function markDead(sql: Sql, row: OutboxRow, code: string, reason: string, nowMs: number): void {
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

/** One state for all parts: waiting while any part waits, else dead when any part died. */
function readOutcome(sql: Sql, key: string): OutboxOutcome | undefined {
  const rows = sql.exec<OutboxRow>('SELECT * FROM outbox WHERE key = ? ORDER BY part', key);
  if (rows.length === 0) return undefined;
  if (rows.some((row) => row.state === 'sending')) return { key, state: 'sending' };
  if (rows.some((row) => row.state === 'queued')) return { key, state: 'queued' };
  const dead = rows.find((row) => row.state === 'dead');
  if (dead === undefined) return { key, state: 'sent', ...refOfLast(rows) };
  return { key, state: 'dead', error: { code: dead.error_code ?? 'rejected', reason: dead.error_reason ?? '' } };
}

function refOfLast(rows: readonly OutboxRow[]): { ref?: string } {
  const ref = rows.at(-1)?.ref;
  return ref ? { ref } : {};
}
