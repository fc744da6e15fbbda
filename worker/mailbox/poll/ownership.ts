// Who may poll a project, and when the owner was there last.

import { WaError } from '../../../protocol/errors.ts';
import { relayLimits } from '../../../protocol/limits.ts';
import type { Core } from '../core.ts';
import { cacheOf } from '../tables/cache.ts';
import type { ProjectRow } from '../tables/rows.ts';

/** Null = `daemon` may poll. `presentAt` = the last time that the owner showed a poll or a parked socket. Pure. */
export function refusalOf(
  { project, daemon_id, daemon_started_at }: Pick<ProjectRow, 'project' | 'daemon_id' | 'daemon_started_at'>,
  daemon: { id: string; startedAt: number },
  presentAt: number,
  nowMs: number,
): WaError | null {
  if (daemon_id === null) return null;
  if (daemon_id === daemon.id) return daemon.startedAt >= (daemon_started_at ?? 0) ? null : supersededError();
  const retryAfterMs = relayLimits.takeoverAfterMs - Math.max(0, nowMs - presentAt);
  if (retryAfterMs <= 0) return null;
  return new WaError('held_by_other_daemon', `project ${project} is polled by another workstation`, {
    hint: 'stop wa-sync on the other workstation: `wa-sync down`',
    retryAfterMs,
  });
}

export function supersededError(): WaError {
  return new WaError('superseded', 'a later start of this daemon polls this project', {
    hint: 'keep one daemon: `wa-sync down` stops the other',
  });
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
