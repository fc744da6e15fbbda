import { describe, expect, it } from 'vitest';
import { relayLimits } from '../../../../protocol/limits.ts';
import { refusalOf } from '../../../../worker/mailbox/poll/ownership.ts';

const nowMs = 1_790_000_000_000;
const seenAt = nowMs - 1_000;
const owner = { project: 0, daemon_id: 'daemon-one', daemon_started_at: 100 };

describe('the right to poll a project', () => {
  it('goes to the first daemon that asks', () => {
    const free = { project: 0, daemon_id: null, daemon_started_at: null };
    expect(refusalOf(free, { id: 'daemon-one', startedAt: 100 }, 0, nowMs)).toBeNull();
  });

  it('stays with the same daemon, and goes to a later start of it at once', () => {
    expect(refusalOf(owner, { id: 'daemon-one', startedAt: 100 }, Number.POSITIVE_INFINITY, nowMs)).toBeNull();
    expect(refusalOf(owner, { id: 'daemon-one', startedAt: 101 }, Number.POSITIVE_INFINITY, nowMs)).toBeNull();
  });

  it('never goes to an earlier start of it', () => {
    const earlier = { id: 'daemon-one', startedAt: 99 };
    expect(refusalOf(owner, earlier, seenAt, nowMs + 1e9)).toMatchObject({ code: 'superseded' });
  });

  it('goes to another workstation only after the silence, however the clock jumped', () => {
    const { takeoverAfterMs } = relayLimits;
    const other = { id: 'daemon-two', startedAt: 1 };
    const held = { code: 'held_by_other_daemon', retryAfterMs: takeoverAfterMs - 1_000 };
    expect(refusalOf(owner, other, seenAt, nowMs)).toMatchObject(held);
    expect(refusalOf(owner, other, nowMs + 9e9, nowMs)).toMatchObject({ ...held, retryAfterMs: takeoverAfterMs });
    expect(refusalOf(owner, other, seenAt, nowMs + takeoverAfterMs)).toBeNull();
    expect(refusalOf(owner, other, Number.POSITIVE_INFINITY, nowMs + takeoverAfterMs)).toMatchObject({
      code: held.code,
    });
  });
});
