// The append-only log of a project. Rows above the cursor are never deleted, here or elsewhere.

import { parseMessageId } from '../../../protocol/ids.ts';
import type { ControlRow, EditRow, MessageRow, OutcomeRow, Row } from '../../../protocol/log.ts';
import type { ReceiptState } from '../../../protocol/receipts.ts';
import type { Core } from '../core.ts';
import { cacheOf, type Waiting } from './cache.ts';
import { openProject } from './projects.ts';
import { noReaction, noteState } from './reactions.ts';
import type { AlbumTexts, LogRow, ProjectRow } from './rows.ts';
import { count, insert, type Sql, update } from './sql.ts';

type Body<Of extends Row> = Omit<Of, 'seq' | 'id' | 'at'>;

/** A row of the protocol before it has its seq and id; `parts` = the texts of an album. */
export type NewRow = { at: number; ref: string } & (
  | ((Body<MessageRow> | Body<EditRow>) & { parts?: AlbumTexts })
  | Body<ControlRow>
  | Body<OutcomeRow>
);

type Place = Pick<ProjectRow, 'project' | 'cursor'>;

/** The highest seq ever used: rows go away only at or below the cursor. */
export function highestSeq(sql: Sql, { project, cursor }: Place): number {
  const { highest } = cacheOf(sql);
  let top = highest.get(project);
  if (top === undefined) {
    const query = 'SELECT seq FROM log WHERE project = ? ORDER BY seq DESC LIMIT 1';
    top = sql.exec<{ seq: number }>(query, project)[0]?.seq ?? 0;
    highest.set(project, top);
  }
  return Math.max(cursor, top);
}

/** Appends at the end of the log of a project, which is made on first use, and returns the seq. */
export function appendRow(core: Core, project: number, row: NewRow): number {
  const stored_at = core.clock();
  const seq = highestSeq(core.sql, openProject(core.sql, project)) + 1;
  const { at, ref, kind, ...rest } = row;
  const expires_at = row.kind === 'message' ? row.expiresAt : null;
  const body = JSON.stringify(rest);
  insert(core.sql, 'log', { project, seq, at, stored_at, kind, ref, body, expires_at });
  const cache = cacheOf(core.sql);
  cache.highest.set(project, seq);
  if (row.kind !== 'message') return seq;
  const oldest = cache.oldest.get(project);
  if (oldest?.waiting === null) oldest.waiting = { at, stored_at, expires_at: row.expiresAt };
  noteState(core, { project, seq, kind, ref, state: null, shown: null });
  return seq;
}

/** Writes columns of a row. At or below `shown_to` the caller saves the project in the same transaction. */
export function setLogRow(core: Core, row: LogRow, columns: Partial<LogRow>): void {
  const { project, seq } = row;
  update(core.sql, 'log', columns, { project, seq });
  const { oldest } = cacheOf(core.sql);
  if (seq > (oldest.get(project)?.from ?? seq)) oldest.delete(project);
  noteState(core, { ...row, ...columns });
}

export function setBody(sql: Sql, { project, seq }: LogRow, body: object): void {
  update(sql, 'log', { body: JSON.stringify(body) }, { project, seq });
}

/** The edit came too late to replace the words, and the daemon made it a message: a correction. The caller writes the row. */
export function asMessage(core: Core, row: LogRow): LogRow {
  const { editOf } = JSON.parse(row.body) as { editOf?: string };
  const first = parseMessageId(editOf ?? '')?.seq ?? row.seq;
  return { ...row, kind: 'message', shown: takeReaction(core, row, first) ? row.shown : noReaction };
}

/** The older rows of the phone message, from `first` on, have its reaction no more. False = a newer message has it. */
export function takeReaction(core: Core, row: Pick<LogRow, 'project' | 'seq' | 'ref'>, first: number): boolean {
  const { project, seq, ref } = row;
  if (ref === '') return true;
  const query = 'SELECT * FROM log WHERE project = ? AND seq >= ? AND seq <> ? AND ref = ?';
  const others = core.sql.exec<LogRow>(query, project, first, seq, ref);
  for (const older of others.filter((other) => other.seq < seq)) setLogRow(core, older, { shown: noReaction });
  return !others.some((other) => other.seq > seq && other.kind === 'message');
}

/** Marks an undelivered message as expired; it stays as a tombstone until the cursor passes it. */
export function expireRow(core: Core, row: LogRow): void {
  setLogRow(core, row, { state: 'expired', state_at: core.clock() });
  core.counters.add('expired');
}

/** The oldest message that waits for the workstation. */
export function oldestWaiting(sql: Sql, project: ProjectRow): Waiting | undefined {
  const { oldest } = cacheOf(sql);
  const from = Math.max(project.cursor, project.expired_to);
  const known = oldest.get(project.project);
  if (known?.from === from) return known.waiting ?? undefined;
  const waiting = sql.exec<Waiting & Record<string, number>>(
    `SELECT at, stored_at, expires_at FROM log WHERE project = ? AND seq > ? AND kind = 'message' AND state IS NULL
     ORDER BY seq LIMIT 1`,
    project.project,
    from,
  )[0];
  oldest.set(project.project, { from, waiting: waiting ?? null });
  return waiting;
}

/** The oldest messages above `after` that wait for the workstation. */
export function waitingMessages(sql: Sql, project: number, after: number, limit: number): LogRow[] {
  const query =
    "SELECT * FROM log WHERE project = ? AND seq > ? AND kind = 'message' AND state IS NULL ORDER BY seq LIMIT ?";
  return sql.exec<LogRow>(query, project, after, limit);
}

export function countWaitingMessages(sql: Sql, { project, cursor }: Place): number {
  const where = "project = ? AND seq > ? AND kind = 'message' AND state IS NULL";
  return count(sql, 'log', where, project, cursor);
}

/** Rows from the phone that the workstation does not have. */
export function countWaitingRows(sql: Sql, { project, cursor }: Place): number {
  return count(sql, 'log', "project = ? AND seq > ? AND kind <> 'outcome'", project, cursor);
}

/** The messages above `after` that the workstation took in time. */
export function countTaken(sql: Sql, { project, cursor }: Place, after: number): number {
  const where = "project = ? AND seq > ? AND seq <= ? AND kind = 'message' AND (state IS NULL OR state <> 'expired')";
  return count(sql, 'log', where, project, after, cursor);
}

/** How many messages stand at each state; states at zero are left out. */
export function readLadder(sql: Sql, { project, cursor }: Place): Partial<Record<ReceiptState, number>> {
  const counted = sql.exec<{ state: ReceiptState; count: number }>(
    `SELECT coalesce(state, iif(seq <= ?, 'delivered', 'stored')) AS state, count(*) AS count
     FROM log WHERE project = ? AND kind = 'message' GROUP BY 1`,
    cursor,
    project,
  );
  return Object.fromEntries(counted.map(({ state, count }) => [state, count]));
}

interface Reach extends Place {
  after: number;
  before: number;
  /** At or below the cursor only younger controls are read. */
  controlsSince: number;
}

/**
 * One page of the rows between `after` and `before` for a daemon: all rows above the cursor; at or below it the controls, and the
 * messages and edits that were never reported as injected.
 */
export function readPage(sql: Sql, { project, cursor, after, before, controlsSince }: Reach, limit: number): LogRow[] {
  const query = `SELECT * FROM log WHERE project = ? AND seq > ? AND seq < ?
    AND (seq > ? OR ((state IS NULL OR state = 'taken') AND kind <> 'outcome' AND (kind <> 'control' OR stored_at > ?)))
    ORDER BY seq LIMIT ?`;
  return sql.exec<LogRow>(query, project, after, before, cursor, controlsSince, limit);
}

/** The controls of all pages. */
export function readControls(sql: Sql, { project, cursor, after, controlsSince }: Reach, limit: number): LogRow[] {
  const query = `SELECT * FROM log INDEXED BY log_controls WHERE project = ? AND kind = 'control' AND seq > ?
    AND (seq > ? OR (state IS NULL AND stored_at > ?)) ORDER BY seq LIMIT ?`;
  return sql.exec<LogRow>(query, project, after, cursor, controlsSince, limit);
}

/** How many of the newest controls are compared: a person taps few buttons at once. */
const comparedControls = 50;

/** True when the same control already waits for the daemon. */
export function controlWaits(sql: Sql, { project, cursor }: Place, control: ControlRow['control']): boolean {
  const query = "SELECT body FROM log WHERE project = ? AND seq > ? AND kind = 'control' ORDER BY seq DESC LIMIT ?";
  const waiting = sql.exec<{ body: string }>(query, project, cursor, comparedControls);
  const body = JSON.stringify({ control });
  return waiting.some((row) => row.body === body);
}

export function readRow(sql: Sql, project: number, seq: number): LogRow | undefined {
  return sql.exec<LogRow>('SELECT * FROM log WHERE project = ? AND seq = ?', project, seq)[0];
}

/** How many rows back the newest row of a phone message is looked for: people edit recent messages. */
const editReach = 2000;

/** The newest row of the phone message `ref`: it holds its current text. */
export function findByRef(sql: Sql, project: number, ref: string): LogRow | undefined {
  const after = highestSeq(sql, openProject(sql, project)) - editReach;
  const query = 'SELECT * FROM log WHERE project = ? AND seq > ? AND ref = ? ORDER BY seq DESC LIMIT 1';
  return sql.exec<LogRow>(query, project, after, ref)[0];
}

/** Which messages are dead letters; the parameters are the project and up to where a delivered message counts as one. */
const deadLetters = `project = ? AND kind = 'message' AND dlq_done = 0
  AND (state IN ('expired', 'failed', 'lost', 'refused') OR (state IS NULL AND seq <= ?))`;

export function countDeadMessages(sql: Sql, project: number, deliveredTo: number): number {
  return count(sql, 'log', deadLetters, project, deliveredTo);
}

/** Newest first. */
export function readDeadMessages(sql: Sql, project: number, deliveredTo: number, limit: number): LogRow[] {
  const query = `SELECT * FROM log WHERE ${deadLetters} ORDER BY seq DESC LIMIT ?`;
  return sql.exec<LogRow>(query, project, deliveredTo, limit);
}

export function readDeadMessage(sql: Sql, project: number, deliveredTo: number, seq: number): LogRow | undefined {
  return sql.exec<LogRow>(`SELECT * FROM log WHERE ${deadLetters} AND seq = ?`, project, deliveredTo, seq)[0];
}

/** Deletes messages at or below the cursor that were stored before `storedBefore`, or reached their end before `endedBefore`. */
export function deleteMessages(sql: Sql, { project, cursor }: Place, storedBefore: number, endedBefore: number): void {
  sql.exec(
    `DELETE FROM log WHERE project = ? AND seq <= ? AND kind = 'message'
     AND (stored_at < ? OR (state IN ('answered', 'failed', 'expired', 'refused', 'lost') AND state_at < ?))`,
    project,
    cursor,
    storedBefore,
    endedBefore,
  );
}

/** Deletes edits, controls and outcomes up to `lastSeq`, which is not above the cursor. */
export function deleteOtherRows(sql: Sql, project: number, lastSeq: number): void {
  sql.exec("DELETE FROM log WHERE project = ? AND seq <= ? AND kind <> 'message'", project, lastSeq);
}
