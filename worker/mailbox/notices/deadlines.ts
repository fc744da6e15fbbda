// Deadlines of waiting messages: expiry, and the notices about it and about an outage.

import type { Core } from '../core.ts';
import { presentAt } from '../poll/ownership.ts';
import { expireRow, oldestWaiting, waitingMessages } from '../tables/log.ts';
import { readProjects, saveProject } from '../tables/projects.ts';
import type { LogRow, ProjectRow } from '../tables/rows.ts';
import { countExpired, expiryNoticeAt } from './endings.ts';
import { outageNoticeAt, tellOutage } from './outages.ts';

/** The alarm lets a poll that is under way acknowledge first; a poll itself expires on the dot. */
const expiryGraceMs = 60_000;
const pageRows = 200;

/** `allPresent` = the workstations of all projects count as present. Null = nothing waits. */
export function nextDeadlineAt(core: Core, allPresent: boolean): number | null {
  const times = readProjects(core.sql).flatMap((project) => {
    const oldest = oldestWaiting(core.sql, project);
    const lastAt = allPresent ? Number.POSITIVE_INFINITY : presentAt(core, project);
    const outage = oldest === undefined ? null : outageNoticeAt(project, lastAt, oldest);
    return [oldest === undefined ? null : oldest.expires_at + expiryGraceMs, expiryNoticeAt(project), outage];
  });
  const due = times.filter((time) => time !== null);
  return due.length === 0 ? null : Math.min(...due);
}

/** Expires messages and sends notices that are due. */
export function meetDeadlines(core: Core): void {
  for (const before of readProjects(core.sql)) {
    core.sql.transaction(() => {
      const { project: row, expired } = expireWaiting(core, before);
      const counted = countExpired(core, row, expired);
      const oldest = oldestWaiting(core.sql, counted);
      const outageAt = oldest === undefined ? null : outageNoticeAt(counted, presentAt(core, counted), oldest);
      const isOut = oldest !== undefined && outageAt !== null && outageAt <= core.clock();
      const after = isOut ? tellOutage(core, counted, oldest) : counted;
      if (!sameRow(before, after)) saveProject(core, after);
    });
  }
}

function expireWaiting(core: Core, project: ProjectRow): { project: ProjectRow; expired: LogRow[] } {
  const expired: LogRow[] = [];
  const isAlive = (expiresAt: number | null) => expiresAt === null || expiresAt + expiryGraceMs > core.clock();
  const oldest = oldestWaiting(core.sql, project);
  if (oldest === undefined || isAlive(oldest.expires_at)) return { project, expired };
  let expiredTo = project.expired_to;
  for (;;) {
    const page = waitingMessages(core.sql, project.project, Math.max(project.cursor, expiredTo), pageRows);
    const alive = page.findIndex((row) => isAlive(row.expires_at));
    const due = alive < 0 ? page : page.slice(0, alive);
    for (const row of due) expireRow(core, row);
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
