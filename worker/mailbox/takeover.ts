// Who may poll a project. Pure.

import { relayLimits } from '../../protocol/limits.ts';

export interface Holder {
  daemonId: string;
  startedAt: number;
  /** The last time it showed a poll or a parked socket. */
  presentAt: number;
}

export type Verdict =
  /** First poll, the same daemon process, a later start of it, or another workstation after the silence. */
  | { kind: 'granted'; relation: 'same' | 'newer' | 'other' }
  | { kind: 'superseded' }
  | { kind: 'held'; retryAfterMs: number };

export function judgePoll(
  holder: Holder | null,
  daemon: { id: string; startedAt: number },
  holderIsParked: boolean,
  nowMs: number,
): Verdict {
  if (holder === null) return { kind: 'granted', relation: 'other' };
  if (holder.daemonId === daemon.id) {
    if (daemon.startedAt === holder.startedAt) return { kind: 'granted', relation: 'same' };
    return daemon.startedAt > holder.startedAt ? { kind: 'granted', relation: 'newer' } : { kind: 'superseded' };
  }
  const silentMs = nowMs - Math.min(holder.presentAt, nowMs);
  if (holderIsParked) return { kind: 'held', retryAfterMs: relayLimits.takeoverAfterMs };
  if (silentMs < relayLimits.takeoverAfterMs) {
    return { kind: 'held', retryAfterMs: relayLimits.takeoverAfterMs - silentMs };
  }
  return { kind: 'granted', relation: 'other' };
}
