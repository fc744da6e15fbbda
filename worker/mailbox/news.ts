// News of the outbox: which keys reached their end without the daemon knowing. Kept in the project row.

import type { Core } from './core.ts';
import type { ProjectRow } from './projects.ts';
import { readProject, saveProject } from './projects.ts';

/** Above this the daemon asks for all its open keys anyway. */
const maxKeys = 200;
/** A daemon that was told and does not ask has forgotten the key. */
const forgetAfterMs = 10 * 60_000;

/** What a poll does with the news: `untold` ends it, `told` only stands in its answer. */
export type News = 'none' | 'untold' | 'told';

export function newsOf(row: ProjectRow, nowMs: number): News {
  if (row.outbox_news === '[]') return 'none';
  if (row.news_told_at === null) return 'untold';
  return nowMs - row.news_told_at < forgetAfterMs ? 'told' : 'none';
}

/** The row after a poll has told it. */
export function newsTold(row: ProjectRow, nowMs: number): ProjectRow {
  switch (newsOf(row, nowMs)) {
    case 'untold':
      return { ...row, news_told_at: nowMs };
    case 'told':
      return row;
    case 'none':
      return { ...row, outbox_news: '[]', news_told_at: null };
  }
}

export function keySettled(core: Core, project: number, key: string): void {
  const row = readProject(core.sql, project);
  if (row === undefined) return;
  const keys = JSON.parse(row.outbox_news) as string[];
  const known = keys.includes(key) || keys.length >= maxKeys;
  if (known && row.news_told_at === null) return;
  saveProject(core, { ...row, outbox_news: JSON.stringify(known ? keys : [...keys, key]), news_told_at: null });
}

/** The daemon has seen the end of these. */
export function keysAsked(core: Core, row: ProjectRow, asked: readonly string[]): void {
  const keys = JSON.parse(row.outbox_news) as string[];
  const left = keys.filter((key) => !asked.includes(key));
  if (left.length === keys.length) return;
  const told = left.length === 0 ? null : row.news_told_at;
  saveProject(core, { ...row, outbox_news: JSON.stringify(left), news_told_at: told });
}
