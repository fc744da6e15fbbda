// The table of albums: parts that arrive one by one and are one message.

import { cacheOf } from './cache.ts';
import type { Sql } from './sql.ts';

type AlbumRow = { project: number; album: string; seq: number; closes_at: number; open: 0 | 1 };

export function readAlbum(sql: Sql, project: number, album: string): AlbumRow | undefined {
  return sql.exec<AlbumRow>('SELECT * FROM album WHERE project = ? AND album = ?', project, album)[0];
}

/** Opens or prolongs. */
export function holdAlbum(sql: Sql, project: number, album: string, seq: number, closesAt: number): void {
  cacheOf(sql).albumOpen = true;
  sql.exec(
    `INSERT INTO album (project, album, seq, closes_at, open) VALUES (?, ?, ?, ?, 1)
     ON CONFLICT (project, album) DO UPDATE SET closes_at = excluded.closes_at`,
    project,
    album,
    seq,
    closesAt,
  );
}

/** The first seq that may not be handed out yet. Closes the albums that are due: no part may join a row that was handed out, even when the clock goes back. */
export function firstHeldSeq(sql: Sql, project: number, nowMs: number): number {
  if (!isSomeOpen(sql)) return Number.MAX_SAFE_INTEGER;
  const albums = sql.exec<AlbumRow>('SELECT * FROM album WHERE project = ? AND open = 1', project);
  const held = albums.filter((album) => album.closes_at > nowMs);
  if (held.length < albums.length) {
    sql.exec('UPDATE album SET open = 0 WHERE project = ? AND open = 1 AND closes_at <= ?', project, nowMs);
  }
  return Math.min(Number.MAX_SAFE_INTEGER, ...held.map((album) => album.seq));
}

/** Closes the albums that are due and returns their projects. */
export function closeAlbums(sql: Sql, nowMs: number): number[] {
  if (!isSomeOpen(sql)) return [];
  const query = 'SELECT DISTINCT project FROM album WHERE open = 1 AND closes_at <= ?';
  const due = sql.exec<{ project: number }>(query, nowMs);
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

export function deleteAlbums(sql: Sql, closedBefore: number): void {
  sql.exec('DELETE FROM album WHERE open = 0 AND closes_at < ?', closedBefore);
}
