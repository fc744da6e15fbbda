// Progress: nothing for what is quick, a spinner on a terminal, and one plain line elsewhere.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createProgress } from '../../agent/progress.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function progressOn(isTTY: boolean, env: Record<string, string> = {}) {
  let text = '';
  const progress = createProgress({ stream: { isTTY, columns: 20, write: (more) => (text += more) }, env });
  return { progress, text: () => text };
}

/** Runs work of `ms` under the fake clock. */
async function lasting(progress: ReturnType<typeof progressOn>['progress'], label: string, ms: number) {
  const result = progress.during(label, () => new Promise((resolve) => setTimeout(() => resolve('done'), ms)));
  await vi.advanceTimersByTimeAsync(ms);
  return result;
}

describe('progress', () => {
  it('of what takes less than a second is not shown', async () => {
    const { progress, text } = progressOn(true);
    expect(await lasting(progress, 'a deploy', 900)).toBe('done');
    expect(text()).toBe('');
  });

  it('without a terminal, in CI and on a dumb terminal is one line', async () => {
    const places = [progressOn(false), progressOn(true, { CI: 'true' }), progressOn(true, { TERM: 'dumb' })];
    for (const { progress, text } of places) {
      await lasting(progress, 'a deploy', 9_000);
      expect(text()).toBe('a deploy …\n');
    }
  });

  it('on a terminal turns on one line that is never wider, and is wiped at the end', async () => {
    const { progress, text } = progressOn(true);
    await lasting(progress, 'a deploy of something with a long name', 1_200);
    const drawn = text().split('\r\u001b[K');
    expect(drawn.slice(0, 3)).toEqual(['', '| a deploy of somet', '/ a deploy of somet']);
    expect(drawn.at(-1)).toBe('');
  });

  it('leaves room above for a line that is printed meanwhile', async () => {
    const { progress, text } = progressOn(true);
    const work = progress.during('a deploy', () => new Promise((resolve) => setTimeout(resolve, 1_100)));
    await vi.advanceTimersByTimeAsync(1_050);
    progress.above(() => {});
    expect(text()).toBe('\r\u001b[K| a deploy …\r\u001b[K');
    await vi.advanceTimersByTimeAsync(50);
    await work;
    progress.above(() => {});
    expect(text()).toBe('\r\u001b[K| a deploy …\r\u001b[K\r\u001b[K');
  });

  it('passes the error of the work on, and stops', async () => {
    const { progress, text } = progressOn(true);
    await expect(progress.during('a deploy', () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(text()).toBe('');
  });
});
