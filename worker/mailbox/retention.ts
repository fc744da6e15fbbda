// Deletes rows whose time of retention is over. Rows above a cursor are never deleted.

import { relayLimits } from '../../protocol/limits.ts';
import type { Core } from './core.ts';
import { deleteAlbums } from './tables/albums.ts';
import { deleteButtons } from './tables/buttons.ts';
import { cacheOf } from './tables/cache.ts';
import { rotateDedupe } from './tables/dedupe.ts';
import { deleteMessages, deleteOtherRows } from './tables/log.ts';
import { deleteSettled } from './tables/outbox.ts';
import { readProjects, saveProject } from './tables/projects.ts';
import type { ProjectRow } from './tables/rows.ts';
import { getMeta, setMeta } from './tables/schema.ts';
import type { Sql } from './tables/sql.ts';

/** A full pass reads every row once; twice a day is little per message. */
const cleanEveryMs = 12 * 3_600_000;

export function nextCleaningAt(sql: Sql): number {
  return Number(getMeta(sql, 'cleaned_at') ?? 0) + cleanEveryMs;
}

/** One pass over all tables. */
export function clean(core: Core): void {
  const { sql } = core;
  const nowMs = core.clock();
  const outboxBefore = nowMs - relayLimits.outboxKeptMs;
  sql.transaction(() => {
    for (const project of readProjects(sql)) cleanProject(core, project, nowMs);
    rotateDedupe(sql, nowMs);
    deleteAlbums(sql, nowMs - relayLimits.logKeptMs);
    deleteSettled(sql, outboxBefore);
    deleteButtons(sql, outboxBefore);
    setMeta(sql, 'cleaned_at', String(nowMs));
  });
  // Without the deleted ones.
  cacheOf(sql).reactions = null;
}

type Passed = { at: number; cursor: number };

function cleanProject(core: Core, project: ProjectRow, nowMs: number): void {
  const marks = JSON.parse(project.passed) as Passed[];
  const old = marks.filter((mark) => mark.at <= nowMs - relayLimits.logKeptMs);
  // A message that was never reported on is kept as long as an outcome.
  deleteMessages(core.sql, project, nowMs - relayLimits.outboxKeptMs, nowMs - relayLimits.logKeptMs);
  deleteOtherRows(core.sql, project.project, old.at(-1)?.cursor ?? 0);
  const kept = [
    ...old.slice(-1),
    ...marks.filter((mark) => !old.includes(mark)),
    { at: nowMs, cursor: project.cursor },
  ];
  saveProject(core, { ...project, passed: JSON.stringify(kept) });
}
