// The status of a mailbox for daemons and the phone, and its numbers for the metrics. Reads only.

import type { MailboxStatus, ProjectStatus } from '../../protocol/relay-api.ts';
import type { Core } from './core.ts';
import { type Counts, sumCounts } from './counters.ts';
import { countDeadLetters } from './dead-letters/dead-letters.ts';
import { readPause } from './outbound/platform-state.ts';
import { countWaitingRows, highestSeq, oldestWaiting, readLadder } from './tables/log.ts';
import { countStates } from './tables/outbox.ts';
import { readCounts, readProjects, readStanding, readToday } from './tables/projects.ts';
import type { ProjectRow } from './tables/rows.ts';
import { readTopics } from './topics.ts';

export function readStatus(core: Core): MailboxStatus {
  const pause = readPause(core);
  return {
    mailbox: core.chatId,
    epoch: core.epoch,
    projects: readProjects(core.sql).map((row) => projectStatus(core, row)),
    outbox: countStates(core.sql),
    topics: readTopics(core),
    today: readToday(core),
    ...(pause === null ? {} : { paused: pause }),
  };
}

function projectStatus(core: Core, row: ProjectRow): ProjectStatus {
  const standing = readStanding(row);
  return {
    project: row.project,
    daemonId: row.daemon_id,
    lastSeenAt: row.last_seen_at,
    cursor: row.cursor,
    ladder: readLadder(core.sql, row),
    oldestWaitingAt: oldestWaiting(core.sql, row)?.at ?? null,
    deadLetters: countDeadLetters(core, row),
    ...(row.topic === null ? {} : { topic: row.topic }),
    ...(standing === null ? {} : { standing }),
  };
}

export interface MailboxMetrics {
  /** Rows ever logged. */
  in: number;
  waiting: number;
  outboxWaiting: number;
  deadLetters: number;
  oldestWaitingMs: number;
  counts: Counts;
}

export function readMetrics(core: Core): MailboxMetrics {
  const projects = readProjects(core.sql);
  const nowMs = core.clock();
  const oldest = projects.flatMap((row) => oldestWaiting(core.sql, row)?.at ?? []);
  const outbox = countStates(core.sql);
  return {
    in: projects.reduce((sum, row) => sum + highestSeq(core.sql, row), 0),
    waiting: projects.reduce((sum, row) => sum + countWaitingRows(core.sql, row), 0),
    outboxWaiting: outbox.queued + outbox.sending,
    deadLetters: outbox.dead,
    oldestWaitingMs: oldest.length === 0 ? 0 : Math.max(0, nowMs - Math.min(...oldest)),
    counts: sumCounts(core.counters.unsaved, ...projects.map(readCounts)),
  };
}
