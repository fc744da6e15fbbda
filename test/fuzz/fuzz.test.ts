import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuzzHooks } from './hooks.ts';
import { judgeMemory } from './memory.ts';
import { fuzzWebhooks } from './webhooks.ts';

const seed = (fc.readConfigureGlobal().seed ?? Date.now()) % 1_000_000_000;

it(`answers any webhook with 200, and what is too large with 413 (seed ${seed})`, async () => {
  const { wrong, statuses } = await fuzzWebhooks(300, seed);
  expect(wrong).toEqual([]);
  expect(Object.values(statuses).reduce((sum, count) => sum + count, 0)).toBe(300);
});

it(`answers any hook input with exit 0 and one JSON object while a daemon runs, which goes on running (seed ${seed})`, async () => {
  const { wrong, daemonExit, handed } = await fuzzHooks(60, seed, { daemon: true });
  expect({ wrong, daemonExit }).toEqual({ wrong: [], daemonExit: 0 });
  expect(handed).toBeGreaterThan(0);
});

it(`answers any hook input with exit 0 and one JSON object without a daemon (seed ${seed})`, async () => {
  const { wrong, handed } = await fuzzHooks(40, seed, { daemon: false });
  expect(wrong).toEqual([]);
  expect(handed).toBeGreaterThan(0);
});

describe('memory', () => {
  const steady = Array.from({ length: 40 }, () => 300);
  const rising = Array.from({ length: 40 }, (_, index) => 100 + index * 10);

  it('is flat while it grows no more than that of a Worker which keeps nothing', () => {
    expect(judgeMemory({ relay: rising, control: rising }, 100_000)).toMatchObject({
      relayGrowthMb: 200,
      isFlat: true,
    });
    expect(judgeMemory({ relay: steady, control: rising }, 100_000)).toMatchObject({
      bytesPerWebhook: 0,
      isFlat: true,
    });
  });

  it('is not flat when only the relay grows, also when the control shrinks', () => {
    const { isFlat, bytesPerWebhook } = judgeMemory({ relay: rising, control: steady }, 100_000);
    expect({ isFlat, bytesPerWebhook }).toEqual({ isFlat: false, bytesPerWebhook: 4_194 });
    const shrinking = rising.toReversed();
    expect(judgeMemory({ relay: steady, control: shrinking }, 100_000).isFlat).toBe(true);
    expect(judgeMemory({ relay: rising, control: shrinking }, 100_000).isFlat).toBe(false);
  });
});
