// Albums: parts that arrive one by one and are one message. An open album holds back what comes after its first part.

import { relayLimits } from '../../../protocol/limits.ts';
import type { Forwarded, PhoneFile } from '../../../protocol/log.ts';
import { cacheOf } from './cache.ts';
import { readRow } from './log.ts';
import type { AlbumTexts } from './rows.ts';
import type { Sql } from './sql.ts';

type AlbumRow = { project: number; album: string; seq: number; closes_at: number; open: number };

type AlbumPart = { kind: 'first' } | { kind: 'next'; seq: number } | { kind: 'late' };

/** The place of a part in its album; a late part comes after its album was closed. */
export function readAlbumPart(sql: Sql, project: number, album: string, nowMs: number): AlbumPart {
  const row = sql.exec<AlbumRow>('SELECT * FROM album WHERE project = ? AND album = ?', project, album)[0];
  if (row === undefined) return { kind: 'first' };
  return row.open === 1 && row.closes_at > nowMs ? { kind: 'next', seq: row.seq } : { kind: 'late' };
}

interface NewPart {
  project: number;
  ref: string;
  files?: PhoneFile[];
  forwarded?: Forwarded;
}

/** Adds a part to the row of the first part. One forwarded part makes the whole album a forwarded message. */
export function addAlbumPart(
  sql: Sql,
  seq: number,
  { project, ref, files = [], forwarded }: NewPart,
  text: string,
): void {
  const row = readRow(sql, project, seq);
  if (row === undefined) return;
  const body = JSON.parse(row.body) as { files?: PhoneFile[]; parts?: AlbumTexts };
  const parts: AlbumTexts = [...(body.parts ?? []), [ref, text]];
  const all = [...(body.files ?? []), ...files];
  const grown = {
    ...body,
    parts,
    text: joined(parts),
    ...(all.length === 0 ? {} : { files: all }),
    ...(forwarded ? { forwarded } : {}),
  };
  sql.exec('UPDATE log SET body = ? WHERE project = ? AND seq = ?', JSON.stringify(grown), project, seq);
}

/** Most parts have no words of their own. */
export function joined(parts: AlbumTexts): string {
  return parts
    .map(([, text]) => text)
    .filter((text) => text !== '')
    .join('\n');
}

/** The row of an album, while it is remembered. */
export function readAlbumSeq(sql: Sql, project: number, album: string): number | undefined {
  return sql.exec<AlbumRow>('SELECT * FROM album WHERE project = ? AND album = ?', project, album)[0]?.seq;
}

/** Opens or prolongs. */
export function holdAlbum(sql: Sql, project: number, album: string, seq: number, nowMs: number): void {
  cacheOf(sql).albumOpen = true;
  sql.exec(
    `INSERT INTO album (project, album, seq, closes_at, open) VALUES (?, ?, ?, ?, 1)
     ON CONFLICT (project, album) DO UPDATE SET closes_at = excluded.closes_at`,
    project,
    album,
    seq,
    nowMs + relayLimits.albumGatherMs,
  );
}

/** The first seq that may not be handed out yet. Closes the albums that are due: no part may join a row that was handed out, even when the clock goes back. */
export function firstHeldSeq(sql: Sql, project: number, nowMs: number): number {
  if (!isSomeOpen(sql)) return Number.MAX_SAFE_INTEGER;
  const albums = sql.exec<{ seq: number; closes_at: number }>(
    'SELECT seq, closes_at FROM album WHERE project = ? AND open = 1',
    project,
  );
  const held = albums.filter((album) => album.closes_at > nowMs);
  if (held.length < albums.length) {
    sql.exec('UPDATE album SET open = 0 WHERE project = ? AND open = 1 AND closes_at <= ?', project, nowMs);
  }
  return Math.min(Number.MAX_SAFE_INTEGER, ...held.map((album) => album.seq));
}

/** Closes the albums that are due and returns their projects. */
export function closeAlbums(sql: Sql, nowMs: number): number[] {
  if (!isSomeOpen(sql)) return [];
  const due = sql.exec<{ project: number }>(
    'SELECT DISTINCT project FROM album WHERE open = 1 AND closes_at <= ?',
    nowMs,
  );
  if (due.length > 0) sql.exec('UPDATE album SET open = 0 WHERE open = 1 AND closes_at <= ?', nowMs);
  cacheOf(sql).albumOpen = null;
  return due.map(({ project }) => project);
}

export function nextAlbumCloseAt(sql: Sql): number | null {
  if (!isSomeOpen(sql)) return null;
  return sql.exec<{ at: number | null }>('SELECT min(closes_at) AS at FROM album WHERE open = 1')[0]?.at ?? null;
}

function isSomeOpen(sql: Sql): boolean {
  const cache = cacheOf(sql);
  cache.albumOpen ??= sql.exec('SELECT seq FROM album WHERE open = 1 LIMIT 1').length > 0;
  return cache.albumOpen;
}
