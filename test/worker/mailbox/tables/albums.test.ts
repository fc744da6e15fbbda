import { describe, expect, it } from 'vitest';
import { relayLimits } from '../../../../protocol/limits.ts';
import { createBench, startAt } from '../../bench.ts';

describe('an album', () => {
  it('takes its seq at the first part and holds back what follows, except controls, until it closes', async () => {
    const bench = createBench();
    bench.say('before');
    bench.say('part one', { album: 'a' });
    bench.say('after');
    bench.say('stop');
    bench.clock.now += 400;
    bench.say('part two', { album: 'a' });
    expect(bench.poll()).toMatchObject({ rows: [{ seq: 1 }], controls: [{ seq: 4 }] });

    await bench.runUntil(bench.clock.now + relayLimits.albumGatherMs);
    expect(bench.poll({ after: 1 }).rows).toMatchObject([
      { seq: 2, text: 'part one\npart two' },
      { seq: 3, text: 'after' },
      { seq: 4, kind: 'control' },
    ]);
  });

  it('ends a parked poll when it closes', async () => {
    const bench = createBench();
    const socket = bench.open();
    bench.say('part', { album: 'a' });
    expect(socket.frame()?.head).toBe('parked');
    await bench.runUntil(startAt + relayLimits.albumGatherMs);
    expect(socket.frame()).toMatchObject({ head: '200', body: { rows: [{ seq: 1, text: 'part' }] } });
  });

  it('gives a control that it overtakes once, and then parks the poll', () => {
    const bench = createBench();
    bench.say('part', { album: 'a' });
    bench.say('stop');
    expect(bench.open().frame()).toMatchObject({ head: '200', body: { rows: [], controls: [{ seq: 2 }] } });
    expect(bench.open().frame()?.head).toBe('parked');
  });

  it('leaves a part that comes too late as a separate message', async () => {
    const bench = createBench();
    bench.say('one', { album: 'a' });
    await bench.runUntil(startAt + relayLimits.albumGatherMs);
    bench.say('late', { album: 'a' });
    expect(bench.poll().rows).toMatchObject([
      { seq: 1, text: 'one' },
      { seq: 2, text: 'late' },
    ]);
  });
});
