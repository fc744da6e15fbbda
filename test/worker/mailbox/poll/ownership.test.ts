import { describe, expect, it } from 'vitest';
import { relayLimits } from '../../../../protocol/limits.ts';
import { judgePoll } from '../../../../worker/mailbox/poll/ownership.ts';

const nowMs = 1_790_000_000_000;
const seenAt = nowMs - 1_000;
const owner = { daemon_id: 'daemon-one', daemon_started_at: 100 };
const granted = { kind: 'granted' };

describe('the right to poll a project', () => {
  it('goes to the first daemon that asks', () => {
    const free = { daemon_id: null, daemon_started_at: null };
    expect(judgePoll(free, { id: 'daemon-one', startedAt: 100 }, 0, nowMs)).toEqual(granted);
  });

  it('stays with the same daemon, and goes to a later start of it at once', () => {
    expect(judgePoll(owner, { id: 'daemon-one', startedAt: 100 }, Number.POSITIVE_INFINITY, nowMs)).toEqual(granted);
    expect(judgePoll(owner, { id: 'daemon-one', startedAt: 101 }, Number.POSITIVE_INFINITY, nowMs)).toEqual(granted);
  });

  it('never goes to an earlier start of it', () => {
    const earlier = { id: 'daemon-one', startedAt: 99 };
    expect(judgePoll(owner, earlier, seenAt, nowMs + 1e9)).toEqual({ kind: 'superseded' });
  });

  it('goes to another workstation only after the silence, however the clock jumped', () => {
    const { takeoverAfterMs } = relayLimits;
    const other = { id: 'daemon-two', startedAt: 1 };
    const held = { kind: 'held', retryAfterMs: takeoverAfterMs - 1_000 };
    expect(judgePoll(owner, other, seenAt, nowMs)).toEqual(held);
    expect(judgePoll(owner, other, nowMs + 9e9, nowMs)).toEqual({ kind: 'held', retryAfterMs: takeoverAfterMs });
    expect(judgePoll(owner, other, seenAt, nowMs + takeoverAfterMs)).toEqual(granted);
    expect(judgePoll(owner, other, Number.POSITIVE_INFINITY, nowMs + takeoverAfterMs)).toMatchObject({ kind: 'held' });
  });
});
