// Deadlines of waiting messages: expiry, and the notices about it and about an outage.

import type { Core } from '../core.ts';
import { expireRow, oldestWaiting } from '../tables/log.ts';
import { readProjects, saveProject } from '../tables/projects.ts';
import type { LogRow, ProjectRow } from '../tables/rows.ts';
import type { Sql } from '../tables/sql.ts';
import { countExpired, expiryNoticeAt } from './endings.ts';
import { outageNoticeAt, tellOutage } from './outages.ts';

/** The alarm lets a poll that is under way acknowledge first; a poll itself expires on the dot. */
const expiryGraceMs = 60_000;
const pageRows = 200;

/** When the daemon of a project was there last; see `Polls`. */
type PresentAt = (project: ProjectRow) => number | null;

/** Null = nothing waits. */
export function nextDeadlineAt(sql: Sql, presentAt: PresentAt): number | null {
  const times = readProjects(sql).flatMap((project) => {
    const oldest = oldestWaiting(sql, project);
    const notice = expiryNoticeAt(project);
    const outage = oldest === undefined ? null : outageNoticeAt(project, presentAt(project), oldest);
    return [oldest === undefined ? null : oldest.expires_at + expiryGraceMs, notice, outage];
  });
  const due = times.filter((time) => time !== null);
  return due.length === 0 ? null : Math.min(...due);
}

/** Expires messages and sends notices that are due. */
export function meetDeadlines(core: Core, presentAt: PresentAt, nowMs: number): void {
  for (const before of readProjects(core.sql)) {
    core.sql.transaction(() => {
      const { project: row, expired } = expireWaiting(core, before, nowMs);
      const counted = countExpired(core, row, expired, nowMs);
      const oldest = oldestWaiting(core.sql, counted);
      const outageAt = oldest === undefined ? null : outageNoticeAt(counted, presentAt(counted), oldest);
      const isOut = oldest !== undefined && outageAt !== null && outageAt <= nowMs;
      const after = isOut ? tellOutage(core, counted, oldest, nowMs) : counted;
      if (!sameRow(before, after)) saveProject(core, after);
    });
  }
}

function expireWaiting(core: Core, project: ProjectRow, nowMs: number): { project: ProjectRow; expired: LogRow[] } {
  const expired: LogRow[] = [];
  const oldest = oldestWaiting(core.sql, project);
  if (oldest === undefined || oldest.expires_at + expiryGraceMs > nowMs) return { project, expired };
  let expiredTo = project.expired_to;
  for (;;) {
    const page = core.sql.exec<LogRow>(
      `SELECT * FROM log WHERE project = ? AND seq > ? AND kind = 'message' AND state IS NULL ORDER BY seq LIMIT ?`,
      project.project,
      Math.max(project.cursor, expiredTo),
      pageRows,
    );
    const alive = page.findIndex((row) => row.expires_at === null || row.expires_at + expiryGraceMs > nowMs);
    const due = alive < 0 ? page : page.slice(0, alive);
    for (const row of due) expireRow(core, row, nowMs);
    expired.push(...due);
    // Only what lies below the first message that still lives is never looked at again.
    if (due.length > 0) expiredTo = alive < 0 ? (page.at(-1)?.seq ?? expiredTo) : (page[alive]?.seq ?? 1) - 1;
    if (alive >= 0 || page.length === 0) break;
  }
  return { project: { ...project, expired_to: expiredTo }, expired };
}

function sameRow(a: ProjectRow, b: ProjectRow): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
