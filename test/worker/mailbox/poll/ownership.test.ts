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
    expect(judgePoll(free, { id: 'daemon-one', startedAt: 100 }, false, 0, nowMs)).toEqual(granted);
  });

  it('stays with the same daemon, and goes to a later start of it at once', () => {
    expect(judgePoll(owner, { id: 'daemon-one', startedAt: 100 }, true, seenAt, nowMs)).toEqual(granted);
    expect(judgePoll(owner, { id: 'daemon-one', startedAt: 101 }, true, seenAt, nowMs)).toEqual(granted);
  });

  it('never goes to an earlier start of it', () => {
    const earlier = { id: 'daemon-one', startedAt: 99 };
    expect(judgePoll(owner, earlier, false, seenAt, nowMs + 1e9)).toEqual({ kind: 'superseded' });
  });

  it('goes to another workstation only after the silence, however the clock jumped', () => {
    const { takeoverAfterMs } = relayLimits;
    const other = { id: 'daemon-two', startedAt: 1 };
    const held = { kind: 'held', retryAfterMs: takeoverAfterMs - 1_000 };
    expect(judgePoll(owner, other, false, seenAt, nowMs)).toEqual(held);
    expect(judgePoll(owner, other, false, nowMs + 9e9, nowMs)).toEqual({ kind: 'held', retryAfterMs: takeoverAfterMs });
    expect(judgePoll(owner, other, false, seenAt, nowMs + takeoverAfterMs)).toEqual(granted);
    expect(judgePoll(owner, other, true, seenAt, nowMs + takeoverAfterMs)).toMatchObject({ kind: 'held' });
  });
});
