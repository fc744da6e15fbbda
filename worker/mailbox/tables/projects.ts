// The row of a project: who polls it, how far they are, where it stands, and its counts. The only place that writes the table.

import { type DayUse, noUse, sumUses, utcDay } from '../../../protocol/free-plan.ts';
import type { Standing } from '../../../protocol/standing.ts';
import type { Core } from '../core.ts';
import { type Counts, sumCounts } from '../counters.ts';
import { type Cache, cacheOf } from './cache.ts';
import type { ProjectRow } from './rows.ts';
import { type Sql, update } from './sql.ts';

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
  // This write too: the object may fall asleep before another one takes its count along.
  core.counters.add('rows_written');
  const counters = JSON.stringify(sumCounts(readCounts(row), core.counters.take()));
  const taken = core.counters.takeToday();
  const today = JSON.stringify(sumUses(taken.day, [readDay(row), taken]));
  const shownTo = reactionsShownTo(cacheOf(core.sql), row);
  const saved = { ...row, shown_to: shownTo, counters, today };
  known(core.sql).set(row.project, saved);
  const { project, ...columns } = saved;
  update(core.sql, 'project', columns, { project });
  core.counters.add('rows_written', -1);
}

/** Null = its daemon has told nothing. */
export function readStanding({ standing, standing_at }: ProjectRow): (Standing & { at: number }) | null {
  return standing === null ? null : { ...(JSON.parse(standing) as Standing), at: standing_at ?? 0 };
}

/** The time zone of the project's workstation, else of the mailbox's that told it last, IANA; undefined = none is known. */
export function zoneOf(sql: Sql, project: ProjectRow): string | undefined {
  const others = readProjects(sql).sort((a, b) => (b.standing_at ?? 0) - (a.standing_at ?? 0));
  return [project, ...others].flatMap((row) => readStanding(row)?.zone ?? [])[0];
}

/** What the mailbox has cost today, as far as it remembers. */
export function readToday(core: Core): DayUse {
  const day = utcDay(core.clock());
  return sumUses(day, [...readProjects(core.sql).map(readDay), core.counters.unsavedToday]);
}

function readDay({ today }: ProjectRow): DayUse {
  return today === null ? noUse('') : (JSON.parse(today) as DayUse);
}

/** The seq below the lowest message whose reaction is due; the highest seq when no reaction is due. */
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
