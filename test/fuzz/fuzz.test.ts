import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuzzCommands } from './commands.ts';
import { fuzzCosts } from './costs.ts';
import { fuzzHooks } from './hooks.ts';
import { fuzzMailboxes } from './mailboxes.ts';
import { fuzzMarkdown } from './markdown.ts';
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

it(`judges any command in time and memory as its length, and asks about a danger on its first line (seed ${seed})`, async () => {
  expect((await fuzzCommands(40, seed)).wrong).toEqual([]);
});

it(`makes parts that the relay takes of any Markdown, in time and memory as its length (seed ${seed})`, async () => {
  expect((await fuzzMarkdown(40, seed)).wrong).toEqual([]);
});

it(`reads and updates any inbox or outbox file in time and memory as its length, and loses no entry (seed ${seed})`, async () => {
  expect((await fuzzMailboxes(40, seed)).wrong).toEqual([]);
});

describe('what an input costs', () => {
  const costOf = (work: (n: number) => Promise<string | undefined>, mb = 256) =>
    fuzzCosts({ input: fc.constant(2_000), charsOf: (n) => n, work, allowed: { ms: 20, msPerKb: 1, mb } }, 3, seed);
  const spin = (ms: number) => {
    const startedAt = process.cpuUsage();
    for (let used = 0; used < ms; ) {
      const { user, system } = process.cpuUsage(startedAt);
      used = (user + system) / 1_000;
    }
  };

  it('is told when it is more time than allowed, when it is more memory, and when the work fails', async () => {
    const slow = await costOf(async () => {
      spin(60);
      return undefined;
    });
    expect(slow.wrong.map(({ what }) => what)).toEqual(
      Array.from({ length: 3 }, () => expect.stringMatching(/^\d+ ms for 2000 characters, of 22 allowed$/)),
    );
    const large = await costOf(async () => {
      Buffer.alloc(200 * 1024 ** 2, 1);
      return undefined;
    }, 50);
    expect(large.wrong.map(({ what }) => what)).toContainEqual(
      expect.stringMatching(/ MB for 2000 characters, of 50 allowed$/),
    );
    const broken = await costOf(() => Promise.reject(new RangeError('too deep')));
    expect(broken.wrong[0]).toEqual({ seed, what: 'RangeError: too deep', input: '2000' });
  });

  it('is no matter when it is little', async () => {
    expect((await costOf(async () => undefined)).wrong).toEqual([]);
  });
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
