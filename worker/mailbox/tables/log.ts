// The append-only log of a project. Rows above the cursor are never deleted, here or elsewhere.

import type { ControlRow, EditRow, MessageRow, OutcomeRow, Row } from '../../../protocol/log.ts';
import type { Core } from '../core.ts';
import { cacheOf, type Waiting } from './cache.ts';
import { openProject } from './projects.ts';
import { noteState } from './reactions.ts';
import type { AlbumTexts, LogRow, ProjectRow } from './rows.ts';
import { insert, type Sql } from './sql.ts';

type Body<Of extends Row> = Omit<Of, 'seq' | 'id' | 'at'>;

/** A row of the protocol before it has its seq and id; `parts` = the texts of an album. */
export type NewRow = { at: number; ref: string } & (
  | ((Body<MessageRow> | Body<EditRow>) & { parts?: AlbumTexts })
  | Body<ControlRow>
  | Body<OutcomeRow>
);

/** The highest seq ever used: rows go away only at or below the cursor. */
export function highestSeq(sql: Sql, project: { project: number; cursor: number }): number {
  const { highest } = cacheOf(sql);
  const known = highest.get(project.project);
  if (known !== undefined) return Math.max(project.cursor, known);
  const top = sql.exec<{ seq: number }>(
    'SELECT seq FROM log WHERE project = ? ORDER BY seq DESC LIMIT 1',
    project.project,
  )[0];
  highest.set(project.project, top?.seq ?? 0);
  return Math.max(project.cursor, top?.seq ?? 0);
}

/** Appends at the end of the log of a project, which is made on first use, and returns the seq. */
export function appendRow(core: Core, project: number, row: NewRow, nowMs: number): number {
  const seq = highestSeq(core.sql, openProject(core.sql, project)) + 1;
  const { at, ref, kind, ...rest } = row;
  const expires_at = row.kind === 'message' ? row.expiresAt : null;
  const body = JSON.stringify(rest);
  insert(core.sql, 'log', { project, seq, at, stored_at: nowMs, kind, ref, body, expires_at });
  const cache = cacheOf(core.sql);
  cache.highest.set(project, seq);
  if (row.kind !== 'message') return seq;
  const oldest = cache.oldest.get(project);
  if (oldest?.waiting === null) oldest.waiting = { at, stored_at: nowMs, expires_at: row.expiresAt };
  noteState(core, { project, seq, kind, ref, state: null, shown: null });
  return seq;
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

/** How many of the newest controls are compared: a person taps few buttons at once. */
const comparedControls = 50;

/** True when the same control already waits for the daemon. */
export function controlWaits(sql: Sql, { project, cursor }: ProjectRow, control: ControlRow['control']): boolean {
  const waiting = sql.exec<{ body: string }>(
    "SELECT body FROM log WHERE project = ? AND seq > ? AND kind = 'control' ORDER BY seq DESC LIMIT ?",
    project,
    cursor,
    comparedControls,
  );
  const body = JSON.stringify({ control });
  return waiting.some((row) => row.body === body);
}

/** Marks an undelivered message as expired; it stays as a tombstone until the cursor passes it. */
export function expireRow(core: Core, row: LogRow, nowMs: number): void {
  core.sql.exec(
    "UPDATE log SET state = 'expired', state_at = ? WHERE project = ? AND seq = ? AND state IS NULL",
    nowMs,
    row.project,
    row.seq,
  );
  cacheOf(core.sql).oldest.delete(row.project);
  core.counters.add('expired');
  noteState(core, { ...row, state: 'expired' });
}

export function readRow(sql: Sql, project: number, seq: number): LogRow | undefined {
  return sql.exec<LogRow>('SELECT * FROM log WHERE project = ? AND seq = ?', project, seq)[0];
}

/** How many rows back the newest row of a phone message is looked for: people edit recent messages. */
const editReach = 2000;

/** The newest row of the phone message `ref`: it holds its current text. */
export function findByRef(sql: Sql, project: number, highest: number, ref: string): LogRow | undefined {
  return sql.exec<LogRow>(
    'SELECT * FROM log WHERE project = ? AND seq > ? AND ref = ? ORDER BY seq DESC LIMIT 1',
    project,
    highest - editReach,
    ref,
  )[0];
}
