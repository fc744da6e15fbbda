// The row of a project: who polls it, how far they are, and its counts. The only place that writes the table.

import type { Cache } from './cache.ts';
import { cacheOf } from './cache.ts';
import type { Core } from './core.ts';
import type { Counts } from './counters.ts';
import { sumCounts } from './counters.ts';
import type { Sql } from './store.ts';

export type ProjectRow = {
  project: number;
  daemon_id: string | null;
  daemon_started_at: number | null;
  last_seen_at: number | null;
  /** Until when a parked poll may still be there. */
  present_until_at: number | null;
  cursor: number;
  /** Everything at or below is known to be expired or was below the cursor. */
  expired_to: number;
  /** Every message at or below shows the reaction of its state on the phone, or is to show none. */
  shown_to: number;
  /** Set while the phone knows that the workstation is away, with the cursor of that time. */
  away_told_at: number | null;
  away_cursor: number | null;
  /** Messages that expired since the phone was told last. */
  expired_untold: number;
  expired_told_at: number | null;
  /** JSON `[{at, cursor}]`: where the cursor stood at past cleanings. */
  passed: string;
  /** JSON of `Counts`. */
  counters: string;
};

export function readProject(sql: Sql, project: number): ProjectRow | undefined {
  return known(sql).get(project);
}

/** By number. */
export function readProjects(sql: Sql): ProjectRow[] {
  return [...known(sql).values()].sort((a, b) => a.project - b.project);
}

/** Reads the row, making it on first use. */
export function openProject(sql: Sql, project: number): ProjectRow {
  const row = readProject(sql, project);
  if (row) return row;
  const made = sql.exec<ProjectRow>('INSERT INTO project (project) VALUES (?) RETURNING *', project)[0] as ProjectRow;
  known(sql).set(project, made);
  return made;
}

function known(sql: Sql): Map<number, ProjectRow> {
  const cache = cacheOf(sql);
  cache.projects ??= new Map(sql.exec<ProjectRow>('SELECT * FROM project').map((row) => [row.project, row]));
  return cache.projects;
}

/** Writes the row with the counts that have gathered. */
export function saveProject(core: Core, row: ProjectRow): void {
  const counters = JSON.stringify(sumCounts(readCounts(row), core.counters.take()));
  const shownTo = reactionsShownTo(cacheOf(core.sql), row);
  known(core.sql).set(row.project, { ...row, shown_to: shownTo, counters });
  core.sql.exec(
    `UPDATE project SET daemon_id = ?, daemon_started_at = ?, last_seen_at = ?, present_until_at = ?, cursor = ?,
     expired_to = ?, shown_to = ?, away_told_at = ?, away_cursor = ?,
     expired_untold = ?, expired_told_at = ?, passed = ?, counters = ? WHERE project = ?`,
    row.daemon_id,
    row.daemon_started_at,
    row.last_seen_at,
    row.present_until_at,
    row.cursor,
    row.expired_to,
    shownTo,
    row.away_told_at,
    row.away_cursor,
    row.expired_untold,
    row.expired_told_at,
    row.passed,
    counters,
    row.project,
  );
}

/** Below the lowest message whose reaction is due; all of them when none is. */
function reactionsShownTo({ reactions, highest }: Cache, row: ProjectRow): number {
  if (reactions === null) return row.shown_to;
  let shownTo = Math.max(row.cursor, row.shown_to, highest.get(row.project) ?? 0);
  for (const { project, seq } of reactions.values()) {
    if (project === row.project) shownTo = Math.min(shownTo, seq - 1);
  }
  return shownTo;
}

export function readCounts(row: ProjectRow): Counts {
  return JSON.parse(row.counters) as Counts;
}
