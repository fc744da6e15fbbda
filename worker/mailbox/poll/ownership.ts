// Who may poll a project. Pure.

import { relayLimits } from '../../../protocol/limits.ts';
import type { ProjectRow } from '../tables/rows.ts';

export type Verdict = { kind: 'granted' } | { kind: 'superseded' } | { kind: 'held'; retryAfterMs: number };

/** `presentAt` = the last time that the owner showed a poll or a parked socket. */
export function judgePoll(
  { daemon_id, daemon_started_at }: Pick<ProjectRow, 'daemon_id' | 'daemon_started_at'>,
  daemon: { id: string; startedAt: number },
  ownerIsParked: boolean,
  presentAt: number,
  nowMs: number,
): Verdict {
  if (daemon_id === null) return { kind: 'granted' };
  if (daemon_id === daemon.id) {
    return daemon.startedAt >= (daemon_started_at ?? 0) ? { kind: 'granted' } : { kind: 'superseded' };
  }
  const silentMs = ownerIsParked ? 0 : Math.max(0, nowMs - presentAt);
  const retryAfterMs = relayLimits.takeoverAfterMs - silentMs;
  return retryAfterMs > 0 ? { kind: 'held', retryAfterMs } : { kind: 'granted' };
}
