// The costs of a UTC day, and what happens before they reach the limits of the free plan. 14:13 UTC is 59 % of the day.

import { describe, expect, it } from 'vitest';
import { freePlan, nearShare, runsOutAt, shareOf, sumUses, utcDay } from '../../../../protocol/free-plan.ts';
import { relayLimits } from '../../../../protocol/limits.ts';
import { readToday } from '../../../../worker/mailbox/tables/projects.ts';
import { type Bench, createBench, scriptedPlatform, startAt, textsOf } from '../../bench.ts';

const hourMs = 3_600_000;
const midnight = Date.parse('2026-09-22T00:00:00Z');

const use = (bench: Bench, share: number) =>
  bench.core.counters.add('object_requests', Math.round(share * freePlan.objectRequests));

describe('the costs of a day', () => {
  it('are kept in the row that a poll writes, across a restart of the object', () => {
    const bench = createBench();
    bench.core.counters.addEvent('worker');
    bench.core.counters.addEvent('alarm');
    bench.core.counters.add('rows_read', 7);
    bench.poll();
    bench.poll({ project: 12 });
    bench.core.counters.takeToday();
    bench.restart();
    expect(readToday(bench.core)).toEqual({
      day: '2026-09-21',
      workerRequests: 1,
      objectRequests: 2,
      rowsRead: 7,
      rowsWritten: expect.any(Number),
      activeMs: 40,
    });
  });

  it('begin anew at midnight UTC, wherever the phone is', () => {
    const bench = createBench();
    use(bench, 0.5);
    bench.poll();
    use(bench, 0.1);
    bench.clock.now = midnight - 1;
    expect(readToday(bench.core).objectRequests).toBe(60_000);
    bench.clock.now = midnight;
    expect(readToday(bench.core)).toMatchObject({ day: '2026-09-22', objectRequests: 0 });
    bench.poll();
    expect(readToday(bench.core)).toMatchObject({ day: '2026-09-22', objectRequests: 0, rowsRead: 0 });
  });

  it('count the time for which the object waits for the platform', async () => {
    const bench = createBench();
    bench.platform.script.push(async () => {
      bench.clock.now += 700;
      return { kind: 'sent', ref: '1' };
    });
    bench.say('/ping');
    await bench.wake();
    expect(readToday(bench.core).activeMs).toBe(700);
  });

  it('are a share of the limit that is reached first', () => {
    const day = utcDay(startAt);
    const some = { day, workerRequests: 10_000, objectRequests: 20_000, rowsRead: 1, rowsWritten: 1, activeMs: 1 };
    expect(shareOf(sumUses(day, [some, some, { ...some, day: 'another' }]))).toMatchObject({
      share: 0.4,
      of: 'Durable Object requests',
      workerRequests: 20_000,
    });
    expect(shareOf({ ...some, activeMs: freePlan.activeMs }).gigabyteSeconds).toBeCloseTo(13_000);
  });

  it.each([
    ['less than 70 % is never near', nearShare - 0.01, 2, null],
    ['70 % in the morning runs out in the day', 0.7, 8, 8 / 0.7],
    ['70 % in the evening lasts', 0.7, 20, null],
    ['all of it has run out', 1, 23, 23],
  ])('%s', (_, share, hour, outHour) => {
    const dayStart = midnight - 24 * hourMs;
    const out = runsOutAt({ share }, dayStart + hour * hourMs);
    expect(out === null ? null : (out - dayStart) / hourMs).toEqual(outHour === null ? null : expect.closeTo(outHour));
  });
});

describe('a day whose plan runs out', () => {
  it('leaves polls as they are while there is enough', () => {
    const bench = createBench();
    use(bench, 0.69);
    expect(bench.poll().slow).toBeUndefined();
  });

  it('slows idle polls down, the more the less is left, and never beyond what counts as away', () => {
    const pauses = [0.8, 0.97, 0.99, 1.2].map((share) => {
      const bench = createBench();
      use(bench, share);
      const { slow } = bench.poll();
      expect(slow?.holdMs).toBe(relayLimits.holdQuietMs);
      return slow?.pollAfterMs ?? -1;
    });
    expect(pauses).toEqual([0, 0, expect.any(Number), relayLimits.offlineAfterMs - 30_000]);
    expect(pauses[2]).toBeGreaterThan(0);
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
  });

  it('still brings a message to a held poll at once', () => {
    const bench = createBench();
    use(bench, 1.2);
    const held = bench.open({ after: 0 });
    expect(held.frame()?.head).toBe('parked');
    bench.say('now');
    expect(held.frame()?.body.rows).toMatchObject([{ text: 'now' }]);
  });

  it('is told to the phone once, and again on the next such day', async () => {
    const bench = createBench();
    use(bench, 0.8);
    for (let poll = 0; poll < 3; poll += 1) bench.poll();
    await bench.wake();
    const told = () => textsOf(bench.platform.calls).filter((text) => text.includes('free plan'));
    expect(told()).toEqual([
      "The relay has used 80 % of today's free plan of Cloudflare (Durable Object requests); at this pace it is used up at " +
        '17:46 UTC. Until 2026-09-22 00:00 UTC (in 9.8 h) idle polls are slower: a message may take up to a minute longer. ' +
        '/usage shows the share.',
    ]);
    bench.clock.now = midnight + hourMs;
    bench.poll();
    await bench.wake();
    expect(told()).toHaveLength(1);
    use(bench, 0.8);
    bench.poll();
    await bench.wake();
    expect(told()).toHaveLength(2);
  });

  it('comes sooner for each of several mailboxes, which share the plan', () => {
    const platform = { ...scriptedPlatform(), chatIds: ['1000001', '1000002'] };
    const bench = createBench({ platform });
    use(bench, 0.4);
    expect(bench.poll().slow).toBeDefined();
  });
});
