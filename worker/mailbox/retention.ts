// Deletes rows whose time of retention is over. Rows above a cursor are never deleted.

import { relayLimits } from '../../protocol/limits.ts';
import type { Core } from './core.ts';
import { cacheOf } from './tables/cache.ts';
import { rotateDedupe } from './tables/dedupe.ts';
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
export function clean(core: Core, nowMs: number): void {
  const { sql } = core;
  sql.transaction(() => {
    for (const project of readProjects(sql)) cleanProject(core, project, nowMs);
    rotateDedupe(sql, nowMs);
    sql.exec('DELETE FROM album WHERE open = 0 AND closes_at < ?', nowMs - relayLimits.logKeptMs);
    sql.exec('DELETE FROM outbox WHERE waiting = 0 AND settled_at < ?', nowMs - relayLimits.outboxKeptMs);
    sql.exec('DELETE FROM slot WHERE at < ?', nowMs - relayLimits.outboxKeptMs);
    sql.exec('DELETE FROM button WHERE at < ?', nowMs - relayLimits.outboxKeptMs);
    setMeta(sql, 'cleaned_at', String(nowMs));
  });
  // Without the deleted ones.
  cacheOf(sql).reactions = null;
}

type Passed = { at: number; cursor: number };

function cleanProject(core: Core, project: ProjectRow, nowMs: number): void {
  const marks = JSON.parse(project.passed) as Passed[];
  const old = marks.filter((mark) => mark.at <= nowMs - relayLimits.logKeptMs);
  const passedBefore = old.at(-1)?.cursor ?? 0;
  const { sql } = core;
  sql.exec(
    `DELETE FROM log WHERE project = ? AND seq <= ? AND kind = 'message'
     AND (stored_at < ? OR (state IN ('answered', 'failed', 'expired', 'refused', 'lost') AND state_at < ?))`,
    project.project,
    project.cursor,
    // A message that was never reported on.
    nowMs - relayLimits.outboxKeptMs,
    nowMs - relayLimits.logKeptMs,
  );
  sql.exec("DELETE FROM log WHERE project = ? AND seq <= ? AND kind <> 'message'", project.project, passedBefore);
  const kept = [
    ...old.slice(-1),
    ...marks.filter((mark) => !old.includes(mark)),
    { at: nowMs, cursor: project.cursor },
  ];
  saveProject(core, { ...project, passed: JSON.stringify(kept) });
}
