import { describe, expect, it } from 'vitest';
import { relayLimits } from '../../protocol/limits.ts';
import { createBench, daemon, epoch, startAt } from './bench.ts';

describe('the poll', () => {
  it('is parked without news, and ended by the next message', () => {
    const bench = createBench();
    const socket = bench.open();
    expect(socket.frame()).toEqual({
      head: 'parked',
      body: {
        epoch,
        now: startAt,
        rows: [],
        controls: [],
        cursor: 0,
        phone: expect.objectContaining({ maxText: 4096 }),
      },
    });
    bench.say('hello');
    expect(socket.frame()).toMatchObject({ head: '200', body: { rows: [{ seq: 1, text: 'hello' }] } });
  });

  it('is answered from the parked socket after the object was evicted', () => {
    const bench = createBench();
    const socket = bench.open();
    bench.restart();
    bench.say('hello');
    expect(socket.frame()).toMatchObject({ head: '200', body: { rows: [{ seq: 1 }] } });
  });

  it('of the same daemon ends its older poll with an empty answer', () => {
    const bench = createBench();
    const older = bench.open();
    const newer = bench.open();
    expect(older.frame()).toMatchObject({ head: '200', body: { rows: [], controls: [], cursor: 0 } });
    expect(newer.frame()?.head).toBe('parked');
  });

  it('of a later start takes over at once, and the older start is superseded for good', () => {
    const bench = createBench();
    const older = bench.open();
    const later = { ...daemon, startedAt: startAt + 1 };
    expect(bench.open({ daemon: later }).frame()?.head).toBe('parked');
    expect(older.frame()).toMatchObject({ head: '409', body: { error: { code: 'superseded' } } });
    expect(bench.poll().error?.code).toBe('superseded');
  });

  it('of another workstation waits until the holder was silent for the takeover time', () => {
    const bench = createBench();
    const other = { id: 'daemon-two', startedAt: startAt };
    const socket = bench.open();
    bench.clock.now += 20_000;
    expect(bench.poll({ daemon: other }).error).toMatchObject({
      code: 'held_by_other_daemon',
      retryAfterMs: relayLimits.takeoverAfterMs,
    });
    // The socket goes: the silence begins.
    socket.finish('200\n{}');
    bench.logic.pollGone(0);
    bench.clock.now += relayLimits.takeoverAfterMs - 1;
    expect(bench.poll({ daemon: other }).error).toMatchObject({ code: 'held_by_other_daemon', retryAfterMs: 1 });
    bench.clock.now += 1;
    expect(bench.poll({ daemon: other }).error).toBeUndefined();
    expect(bench.poll().error?.code).toBe('held_by_other_daemon');
  });

  it('reckons with a parked socket that it has forgotten in hibernation', () => {
    const bench = createBench();
    bench.open({ holdMs: 25_000 }).finish('200\n{}');
    bench.restart();
    bench.clock.now += 25_000 + relayLimits.takeoverAfterMs - 1;
    expect(bench.poll({ daemon: { id: 'daemon-two', startedAt: startAt } }).error?.code).toBe('held_by_other_daemon');
  });
});
