import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fuzzHooks } from './hooks.ts';
import { fuzzWebhooks } from './webhooks.ts';

const seed = (fc.readConfigureGlobal().seed ?? Date.now()) % 1_000_000_000;

it(`answers any webhook with 200, and what is too large with 413 (seed ${seed})`, async () => {
  const { wrong, statuses } = await fuzzWebhooks(300, seed);
  expect(wrong).toEqual([]);
  expect(Object.values(statuses).reduce((sum, count) => sum + count, 0)).toBe(300);
});

it(`answers any hook input with exit 0 and one JSON object while a daemon runs, which goes on running (seed ${seed})`, async () => {
  const { wrong, daemonExit } = await fuzzHooks(60, seed, { daemon: true });
  expect({ wrong, daemonExit }).toEqual({ wrong: [], daemonExit: 0 });
});

it(`answers any hook input with exit 0 and one JSON object without a daemon (seed ${seed})`, async () => {
  const { wrong } = await fuzzHooks(40, seed, { daemon: false });
  expect(wrong).toEqual([]);
});
