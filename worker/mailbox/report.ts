// The status of a mailbox for daemons and the phone, and its numbers for the metrics. Reads only.

import { type ReceiptState, receiptStates } from '../../protocol/receipts.ts';
import type { KeyState, MailboxStatus, ProjectStatus } from '../../protocol/relay-api.ts';
import type { Core } from './core.ts';
import { type Counts, sumCounts } from './counters.ts';
import { countDeadLetters } from './dead-letters/dead-letters.ts';
import type { Pause } from './outbound/platform-state.ts';
import { highestSeq, oldestWaiting } from './tables/log.ts';
import { readCounts, readProjects } from './tables/projects.ts';
import type { ProjectRow } from './tables/rows.ts';
import { count } from './tables/sql.ts';

/** `isAway`: see `listDeadLetters`. */
type IsAway = (project: ProjectRow) => boolean;

export function readStatus(core: Core, pause: Pause | null, isAway: IsAway): MailboxStatus {
  return {
    mailbox: core.chatId,
    epoch: core.epoch,
    projects: readProjects(core.sql).map((row) => projectStatus(core, row, isAway)),
    outbox: outboxCounts(core),
    ...(pause === null ? {} : { paused: pause }),
  };
}

function projectStatus(core: Core, row: ProjectRow, isAway: IsAway): ProjectStatus {
  return {
    project: row.project,
    daemonId: row.daemon_id,
    lastSeenAt: row.last_seen_at,
    cursor: row.cursor,
    ladder: ladderOf(core, row),
    oldestWaitingAt: oldestWaiting(core.sql, row)?.at ?? null,
    letters: countDeadLetters(core, row, isAway(row)),
  };
}

function ladderOf(core: Core, row: ProjectRow): Partial<Record<ReceiptState, number>> {
  const counted = core.sql.exec<{ state: ReceiptState; count: number }>(
    `SELECT coalesce(state, iif(seq <= ?, 'delivered', 'stored')) AS state, count(*) AS count
     FROM log WHERE project = ? AND kind = 'message' GROUP BY 1`,
    row.cursor,
    row.project,
  );
  const byState = new Map(counted.map(({ state, count }) => [state, count]));
  return Object.fromEntries(
    receiptStates.flatMap((state) => (byState.has(state) ? [[state, byState.get(state)]] : [])),
  );
}

function outboxCounts(core: Core): Record<KeyState, number> {
  const counts: Record<KeyState, number> = { queued: 0, sending: 0, sent: 0, dead: 0 };
  for (const { state, count } of core.sql.exec<{ state: KeyState; count: number }>(
    "SELECT state, count(*) AS count FROM outbox WHERE key NOT LIKE 'relay:%' AND (state <> 'dead' OR letter_done = 0) GROUP BY state",
  )) {
    counts[state] = count;
  }
  return counts;
}

/** Rows from the phone that the workstation does not have. */
function waitingRows(core: Core, row: ProjectRow): number {
  return count(
    core.sql,
    "SELECT count(*) AS count FROM log WHERE project = ? AND seq > ? AND kind <> 'outcome'",
    row.project,
    row.cursor,
  );
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
  const outbox = outboxCounts(core);
  return {
    in: projects.reduce((sum, row) => sum + highestSeq(core.sql, row), 0),
    waiting: projects.reduce((sum, row) => sum + waitingRows(core, row), 0),
    outboxWaiting: outbox.queued + outbox.sending,
    deadLetters: outbox.dead,
    oldestWaitingMs: oldest.length === 0 ? 0 : Math.max(0, nowMs - Math.min(...oldest)),
    counts: sumCounts(core.counters.unsaved(), ...projects.map(readCounts)),
  };
}
