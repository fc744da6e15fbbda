// The append-only log of a project: appending, handing out, receipts. Rows above the cursor are never deleted here or elsewhere.

import { messageId, parseMessageId } from '../../protocol/ids.ts';
import { relayLimits } from '../../protocol/limits.ts';
import type { ControlRow, Forwarded, KeyEnd, PhoneFile, Row } from '../../protocol/log.ts';
import type { Receipt, ReceiptState } from '../../protocol/receipts.ts';
import { supersedes } from '../../protocol/receipts.ts';
import { cacheOf } from './cache.ts';
import type { Core } from './core.ts';
import type { ProjectRow } from './projects.ts';
import { noteState } from './reactions.ts';
import type { Sql } from './store.ts';

export type LogRow = {
  project: number;
  seq: number;
  at: number;
  stored_at: number;
  kind: Row['kind'];
  /** The platform's id of the phone message. */
  ref: string;
  /** JSON: the row without seq, id, at and kind. Kept when it expires: a retry needs the text. */
  body: string;
  expires_at: number | null;
  /** Null until a receipt or the expiry: then the cursor tells stored from delivered. */
  state: ReceiptState | null;
  state_at: number | null;
  attempt: number;
  /** The reaction that the phone shows, or that it gets none. */
  shown: string | null;
  /** The owner has retried or dropped it. */
  letter_done: 0 | 1;
};

/** The text of each part of an album by the platform's id of it; never on the wire. */
export type AlbumTexts = [ref: string, text: string][];

export type NewRow = { at: number; ref: string } & (
  | {
      kind: 'message';
      text: string;
      expiresAt: number;
      stopWord?: true;
      quote?: string;
      quoteFrom?: 'agent' | 'owner';
      forwarded?: Forwarded;
      retryOf?: string;
      files?: PhoneFile[];
      parts?: AlbumTexts;
    }
  | { kind: 'edit'; editOf: string; text: string; forwarded?: Forwarded; parts?: AlbumTexts }
  | { kind: 'control'; control: ControlRow['control'] }
  | { kind: 'outcome'; outcome: KeyEnd }
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

/** Appends and returns the seq. */
export function appendRow(core: Core, project: number, seq: number, row: NewRow, nowMs: number): void {
  const { at, ref, kind, ...body } = row;
  const expiresAt = row.kind === 'message' ? row.expiresAt : null;
  core.sql.exec(
    'INSERT INTO log (project, seq, at, stored_at, kind, ref, body, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    project,
    seq,
    at,
    nowMs,
    kind,
    ref,
    JSON.stringify(body),
    expiresAt,
  );
  const cache = cacheOf(core.sql);
  cache.highest.set(project, seq);
  if (row.kind !== 'message') return;
  const oldest = cache.oldest.get(project);
  if (oldest?.waiting === null) oldest.waiting = { stored_at: nowMs, expires_at: row.expiresAt };
  noteState(core, { project, seq, kind, ref, state: null, shown: null });
}

/** How many of the newest controls are compared: a person taps few buttons at once. */
const comparedControls = 50;

/** The same control waits for the daemon: once more would say nothing new. */
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

export interface HandOut {
  rows: Row[];
  controls: ControlRow[];
  /** What was found to be expired on the way. */
  expired: LogRow[];
}

/** Rows of a page; most polls find less. */
const pageRows = 200;
const maxControls = 500;
/** A daemon that lost its state gets a spent control again only this long: an old STOP must not halt today's work. */
const controlResendMs = 10 * 60_000;

/**
 * What a daemon that has everything up to `after` gets: all above the cursor, and below it what it never proved to have injected;
 * outcomes only above the cursor, as whoever acknowledged less posts its open keys again.
 * Marks what expired on the way. `before` = first seq of an open album.
 */
export function handOut(core: Core, project: ProjectRow, after: number, before: number, nowMs: number): HandOut {
  const rows: Row[] = [];
  const expired: LogRow[] = [];
  if (after >= highestSeq(core.sql, project)) return { rows, controls: [], expired };
  let bytes = 0;
  let from = after;
  let isWhole = before === Number.MAX_SAFE_INTEGER;
  window: for (;;) {
    const page = core.sql.exec<LogRow>(
      `SELECT * FROM log WHERE project = ? AND seq > ? AND seq < ?
       AND (seq > ? OR ((state IS NULL OR state = 'taken') AND kind <> 'outcome' AND (kind <> 'control' OR stored_at > ?)))
       ORDER BY seq LIMIT ?`,
      project.project,
      from,
      before,
      project.cursor,
      nowMs - controlResendMs,
      pageRows,
    );
    for (const stored of page) {
      if (isDue(project, stored, nowMs)) {
        expireRow(core, stored, nowMs);
        expired.push(stored);
      }
      const row = wireRow(core, project, stored, nowMs);
      const size = utf8Bytes(JSON.stringify(row)) + 1;
      if (rows.length > 0 && bytes + size > relayLimits.pollWindowBytes) {
        isWhole = false;
        break window;
      }
      bytes += size;
      rows.push(row);
      if (stored.seq > project.cursor && stored.kind !== 'outcome') countDelivery(core, stored, nowMs);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageRows) break;
    from = last.seq;
  }
  const controls = isWhole ? rows.filter((row) => row.kind === 'control') : controlsAbove(core, project, after, nowMs);
  return { rows, controls, expired };
}

function controlsAbove(core: Core, project: ProjectRow, after: number, nowMs: number): ControlRow[] {
  const stored = core.sql.exec<LogRow>(
    `SELECT * FROM log INDEXED BY log_controls WHERE project = ? AND kind = 'control' AND seq > ?
     AND (seq > ? OR (state IS NULL AND stored_at > ?)) ORDER BY seq LIMIT ?`,
    project.project,
    after,
    project.cursor,
    nowMs - controlResendMs,
    maxControls,
  );
  return stored.map((row) => wireRow(core, project, row, nowMs)).filter((row) => row.kind === 'control');
}

function wireRow(core: Core, project: ProjectRow, stored: LogRow, nowMs: number): Row {
  const { project: number, seq, at, kind } = stored;
  const head = { seq, id: messageId(core.epoch, number, seq), at, kind };
  if (isDue(project, stored, nowMs) || (kind === 'message' && stored.state === 'expired')) {
    return { ...head, kind: 'message', text: '', expiresAt: stored.expires_at ?? nowMs, expired: true };
  }
  const { parts: _parts, files, ...body } = JSON.parse(stored.body) as { parts?: AlbumTexts; files?: PhoneFile[] };
  const named = files?.map((file, index) => ({ ...file, id: fileIdOf(head.id, index) }));
  return { ...head, ...body, ...(named === undefined ? {} : { files: named }) } as Row;
}

/** By which a file of a row is fetched: its place, so that only what stands in this log can be. */
function fileIdOf(messageId: string, index: number): string {
  return `${messageId}_${index.toString(36)}`;
}

function isDue(project: ProjectRow, row: LogRow, nowMs: number): boolean {
  return row.expires_at !== null && row.expires_at <= nowMs && row.state === null && row.seq > project.cursor;
}

function countDelivery(core: Core, stored: LogRow, nowMs: number): void {
  core.counters.add('delivered');
  core.counters.add('deliver_ms', Math.max(0, nowMs - stored.stored_at));
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

/** Applies what moves a row up the ladder and returns it; receipts for other storages, projects or unknown rows are dropped. */
export function applyReceipts(
  core: Core,
  project: ProjectRow,
  receipts: readonly Receipt[],
): { row: LogRow; state: ReceiptState }[] {
  const moved: { row: LogRow; state: ReceiptState }[] = [];
  for (const receipt of receipts) {
    const id = parseMessageId(receipt.id);
    if (id === undefined || id.epoch !== core.epoch || id.project !== project.project) continue;
    const row = readRow(core.sql, id.project, id.seq);
    if (row === undefined) continue;
    const state = row.state ?? (row.seq <= project.cursor ? 'delivered' : 'stored');
    if (!supersedes(receipt, { attempt: row.attempt, state })) continue;
    core.sql.exec(
      'UPDATE log SET state = ?, state_at = ?, attempt = ? WHERE project = ? AND seq = ?',
      receipt.state,
      receipt.at,
      receipt.attempt,
      row.project,
      row.seq,
    );
    // Only what is above the cursor can wait.
    if (row.seq > project.cursor) cacheOf(core.sql).oldest.delete(row.project);
    noteState(core, { ...row, state: receipt.state });
    if (row.kind === 'message') moved.push({ row, state: receipt.state });
  }
  return moved;
}

export function readRow(sql: Sql, project: number, seq: number): LogRow | undefined {
  return sql.exec<LogRow>('SELECT * FROM log WHERE project = ? AND seq = ?', project, seq)[0];
}

/** How far back the newest row of a phone message is looked for: edits are for what was just sent. */
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

const encoder = new TextEncoder();

function utf8Bytes(text: string): number {
  return encoder.encode(text).byteLength;
}
