// What a poll gives and takes: the rows above a cursor with their files, and the receipts for what was given before.

import { WaError } from '../../../protocol/errors.ts';
import { messageId, parseMessageId } from '../../../protocol/ids.ts';
import { relayLimits } from '../../../protocol/limits.ts';
import type { ControlRow, PhoneFile, Row } from '../../../protocol/log.ts';
import { type Receipt, supersedes } from '../../../protocol/receipts.ts';
import type { Core } from '../core.ts';
import type { Ending } from '../notices/endings.ts';
import { firstHeldSeq } from '../tables/albums.ts';
import { asMessage, expireRow, highestSeq, readControls, readPage, readRow, setLogRow } from '../tables/log.ts';
import type { AlbumTexts, LogRow, ProjectRow } from '../tables/rows.ts';

export interface HandOut {
  rows: Row[];
  controls: ControlRow[];
  /** Messages that this call marked as expired. */
  expired: LogRow[];
}

/** Rows of a page; most polls find less. */
const pageRows = 200;
const maxControls = 500;
/** A daemon that lost its state gets a handled control again only this long: an old STOP must not halt today's work. */
const controlResendMs = 10 * 60_000;

/**
 * The rows for a daemon that has everything up to `after`: all rows above the cursor, and below the cursor the messages that it never
 * reported as injected. Outcomes come only from above the cursor: a daemon that lost its state posts its open keys again.
 * Marks what expired on the way. An open album holds back what comes after its first part.
 */
export function handOut(core: Core, project: ProjectRow, after: number): HandOut {
  const rows: Row[] = [];
  const expired: LogRow[] = [];
  if (after >= highestSeq(core.sql, project)) return { rows, controls: [], expired };
  const nowMs = core.clock();
  const before = firstHeldSeq(core.sql, project.project, nowMs);
  const { project: number, cursor } = project;
  const reach = { project: number, cursor, after, before, controlsSince: nowMs - controlResendMs };
  let bytes = 0;
  let isWhole = before === Number.MAX_SAFE_INTEGER;
  window: for (;;) {
    const page = readPage(core.sql, reach, pageRows);
    for (const stored of page) {
      if (isDue(project, stored, nowMs)) {
        expireRow(core, stored);
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
      if (stored.seq <= project.cursor || stored.kind === 'outcome') continue;
      core.counters.add('delivered');
      core.counters.add('deliver_ms', Math.max(0, nowMs - stored.stored_at));
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageRows) break;
    reach.after = last.seq;
  }
  const controls = isWhole ? [] : readControls(core.sql, { ...reach, after }, maxControls);
  const all = isWhole ? rows : controls.map((row) => wireRow(core, project, row, nowMs));
  return { rows, controls: all.filter((row) => row.kind === 'control'), expired };
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

/** Applies what moves a row up the ladder and returns it; receipts for other storages, projects or unknown rows are dropped. */
export function applyReceipts(core: Core, project: ProjectRow, receipts: readonly Receipt[]): Ending[] {
  const moved: Ending[] = [];
  for (const receipt of receipts) {
    const id = parseMessageId(receipt.id);
    if (id === undefined || id.epoch !== core.epoch || id.project !== project.project) continue;
    const found = readRow(core.sql, id.project, id.seq);
    if (found === undefined) continue;
    const was = found.state ?? (found.seq <= project.cursor ? 'delivered' : 'stored');
    if (!supersedes(receipt, { attempt: found.attempt, state: was })) continue;
    const { state, attempt, at: state_at } = receipt;
    // A new daemon gets an edit again that another program took, and may still replace the words by it.
    const row = found.kind === 'edit' && state !== 'taken' ? asMessage(core, found) : found;
    const made = row === found ? {} : { kind: row.kind, shown: row.shown };
    setLogRow(core, row, { ...made, state, state_at, attempt });
    if (row.kind === 'message') moved.push({ row, state });
  }
  return moved;
}

/** The file that the wire calls `id`, with the platform's id. Raises `not_found`. */
export function findFile(core: Core, project: number, id: string): PhoneFile {
  const cut = id.lastIndexOf('_');
  const place = parseMessageId(id.slice(0, cut));
  const index = /^[0-9a-z]{1,3}$/.test(id.slice(cut + 1)) ? Number.parseInt(id.slice(cut + 1), 36) : -1;
  const row =
    place?.epoch === core.epoch && place.project === project ? readRow(core.sql, project, place.seq) : undefined;
  const file = row === undefined ? undefined : (JSON.parse(row.body) as { files?: PhoneFile[] }).files?.[index];
  if (file !== undefined) return file;
  throw new WaError('not_found', `project ${project} has no file ${id}`, {
    hint: 'send the file again from the phone',
  });
}

const encoder = new TextEncoder();

function utf8Bytes(text: string): number {
  return encoder.encode(text).byteLength;
}
