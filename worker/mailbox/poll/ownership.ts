// Who may poll a project, and when the owner was there last.

import { relayLimits } from '../../../protocol/limits.ts';
import type { Core } from '../core.ts';
import { cacheOf } from '../tables/cache.ts';
import type { ProjectRow } from '../tables/rows.ts';

export type Verdict = { kind: 'granted' } | { kind: 'superseded' } | { kind: 'held'; retryAfterMs: number };

/** `presentAt` = the last time that the owner showed a poll or a parked socket. Pure. */
export function judgePoll(
  { daemon_id, daemon_started_at }: Pick<ProjectRow, 'daemon_id' | 'daemon_started_at'>,
  daemon: { id: string; startedAt: number },
  presentAt: number,
  nowMs: number,
): Verdict {
  if (daemon_id === null) return { kind: 'granted' };
  if (daemon_id === daemon.id) {
    return daemon.startedAt >= (daemon_started_at ?? 0) ? { kind: 'granted' } : { kind: 'superseded' };
  }
  const silentMs = Math.max(0, nowMs - presentAt);
  const retryAfterMs = relayLimits.takeoverAfterMs - silentMs;
  return retryAfterMs > 0 ? { kind: 'held', retryAfterMs } : { kind: 'granted' };
}

/** When the daemon showed a poll or a parked socket last: infinity = now, null = never. */
export function presentAt(core: Core, { project, present_until_at }: ProjectRow): number | null {
  if (core.parked(project).length > 0) return Number.POSITIVE_INFINITY;
  return cacheOf(core.sql).goneAt.get(project) ?? present_until_at;
}

/** A workstation that is silent for this long may be replaced by another. */
export function isAway(core: Core, row: ProjectRow): boolean {
  const lastAt = presentAt(core, row);
  return lastAt === null || core.clock() - lastAt >= relayLimits.takeoverAfterMs;
}
