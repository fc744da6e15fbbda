// Garbage is collected when work is over, and not during work or again and again.

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { collectWhenQuiet } from '../../agent/memory.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('collects once after each piece of work', () => {
  let usedMs = 0;
  let collected = 0;
  const looks = (ms: number) => {
    usedMs += ms;
    vi.advanceTimersByTime(5_000);
    return collected;
  };
  const collect = () => {
    collected += 1;
    usedMs += 500;
  };
  const end = collectWhenQuiet(collect, () => usedMs);
  // The start is work, too.
  expect([looks(300), looks(20), looks(20), looks(20)]).toEqual([0, 1, 1, 1]);
  expect([looks(2_000), looks(2_000), looks(20), looks(20)]).toEqual([1, 1, 2, 2]);
  end();
  expect([looks(2_000), looks(20)]).toEqual([2, 2]);
});

it('a collection frees what nobody holds', () => {
  const held = Array.from({ length: 50 }, () => new Array<number>(100_000).fill(1.5));
  const before = process.memoryUsage().heapUsed;
  const end = collectWhenQuiet(undefined, () => 0);
  held.length = 0;
  vi.advanceTimersByTime(5_000);
  expect(process.memoryUsage().heapUsed).toBeLessThan(before - 20 * 1024 * 1024);
  end();
});
