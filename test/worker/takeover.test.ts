import { describe, expect, it } from 'vitest';
import { relayLimits } from '../../protocol/limits.ts';
import { judgePoll } from '../../worker/mailbox/takeover.ts';

const nowMs = 1_790_000_000_000;
const holder = { daemonId: 'daemon-one', startedAt: 100, presentAt: nowMs - 1_000 };

describe('who may poll', () => {
  it('is anybody when nobody has', () => {
    expect(judgePoll(null, { id: 'daemon-one', startedAt: 100 }, false, nowMs)).toEqual({
      kind: 'granted',
      relation: 'other',
    });
  });

  it('is the same daemon, and a later start of it at once', () => {
    expect(judgePoll(holder, { id: 'daemon-one', startedAt: 100 }, true, nowMs)).toEqual({
      kind: 'granted',
      relation: 'same',
    });
    expect(judgePoll(holder, { id: 'daemon-one', startedAt: 101 }, true, nowMs)).toEqual({
      kind: 'granted',
      relation: 'newer',
    });
  });

  it('is never an earlier start of it', () => {
    expect(judgePoll(holder, { id: 'daemon-one', startedAt: 99 }, false, nowMs + 1e9)).toEqual({ kind: 'superseded' });
  });

  it('is another workstation only after the silence, however the clock jumped', () => {
    const other = { id: 'daemon-two', startedAt: 1 };
    expect(judgePoll(holder, other, false, nowMs)).toEqual({
      kind: 'held',
      retryAfterMs: relayLimits.takeoverAfterMs - 1_000,
    });
    expect(judgePoll({ ...holder, presentAt: nowMs + 9e9 }, other, false, nowMs)).toEqual({
      kind: 'held',
      retryAfterMs: relayLimits.takeoverAfterMs,
    });
    expect(judgePoll(holder, other, false, nowMs + relayLimits.takeoverAfterMs)).toEqual({
      kind: 'granted',
      relation: 'other',
    });
    expect(judgePoll(holder, other, true, nowMs + relayLimits.takeoverAfterMs)).toMatchObject({ kind: 'held' });
  });
});
