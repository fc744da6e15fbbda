import { describe, expect, it } from 'vitest';
import { relayLimits } from '../../../../protocol/limits.ts';
import { createBench, scriptedPlatform, startAt, textsOf } from '../../bench.ts';

const hourMs = 3_600_000;

describe('a workstation that does not poll', () => {
  it('is told to the phone once, when a message waits, and so is its return', async () => {
    const bench = createBench();
    bench.poll();
    bench.clock.now += hourMs;
    for (let n = 0; n < 3; n += 1) bench.say('hello?');
    await bench.runUntil(bench.clock.now + 2 * hourMs);
    bench.say('still there?');
    await bench.runUntil(bench.clock.now + hourMs);
    const { rows } = bench.poll();
    expect(rows).toHaveLength(4);
    bench.poll({ after: 4 });
    await bench.runUntil(bench.clock.now + 1_000);
    expect(textsOf(bench.platform.calls)).toEqual([
      `Workstation last seen ${clock(startAt)} (60 min ago). 3 messages wait; the first expires at ` +
        `${clockWithDate(startAt + hourMs + relayLimits.messageTtlMs)}, in 24 h.`,
      'The workstation is back: 4 messages delivered.',
    ]);
  });

  it('is told again in its next outage', async () => {
    const bench = createBench();
    for (let n = 1; n <= 2; n += 1) {
      bench.poll({ after: n - 1 });
      bench.clock.now += hourMs;
      bench.say('hello?');
      await bench.runUntil(bench.clock.now + 60_000);
      bench.poll({ after: n });
      await bench.runUntil(bench.clock.now + 1_000);
    }
    expect(textsOf(bench.platform.calls).map((text) => text.split(' ').slice(0, 4).join(' '))).toEqual([
      `Workstation last seen ${clock(startAt).split(' ')[0]}`,
      'The workstation is back:',
      `Workstation last seen ${clock(startAt + hourMs + 60_000).split(' ')[0]}`,
      'The workstation is back:',
    ]);
  });

  it('and never did is named so', async () => {
    const bench = createBench();
    bench.say('hello?');
    await bench.runUntil(startAt + relayLimits.offlineAfterMs - 1);
    expect(bench.platform.calls).toEqual([]);
    await bench.runUntil(startAt + relayLimits.offlineAfterMs);
    expect(textsOf(bench.platform.calls)[0]).toMatch(
      /^No workstation has connected yet\. 1 message waits; it expires at /,
    );
  });

  it('is not told while nothing waits', async () => {
    const bench = createBench();
    bench.say('hello');
    bench.poll({ after: 1 });
    await bench.runUntil(startAt + 3 * hourMs);
    expect(bench.platform.calls).toEqual([]);
  });

  it('is not told while a poll is parked, but ninety seconds after it is gone', async () => {
    const bench = createBench();
    const socket = bench.open();
    bench.clock.now += 10_000;
    // The answer goes out, and no daemon acknowledges it.
    bench.say('hello');
    expect(socket.frame()?.head).toBe('200');
    await bench.runUntil(startAt + 10_000 + relayLimits.offlineAfterMs - 1);
    expect(bench.platform.calls).toEqual([]);
    await bench.runUntil(startAt + 10_000 + relayLimits.offlineAfterMs);
    expect(textsOf(bench.platform.calls)).toHaveLength(1);
  });

  it('is remembered as told by a fresh object', async () => {
    const bench = createBench();
    bench.say('hello?');
    await bench.runUntil(startAt + hourMs);
    bench.restart();
    await bench.runUntil(startAt + 2 * hourMs);
    bench.say('hello?');
    await bench.runUntil(startAt + 3 * hourMs);
    expect(bench.platform.calls).toHaveLength(1);
  });

  it('of one project is told in its own topic', async () => {
    const bench = createBench();
    bench.open({ project: 0 });
    bench.say('hello?', { project: 12 });
    await bench.runUntil(startAt + hourMs);
    expect(bench.platform.calls).toMatchObject([{ kind: 'send', topic: 12 }]);
  });

  it('asks for no alarm while it polls and takes what comes', async () => {
    const bench = createBench({ platform: scriptedPlatform({ reactions: true }) });
    await bench.wake();
    bench.open();
    bench.say('hello');
    bench.poll({ after: 1 });
    await bench.rest();
    expect(bench.alarmAt()).toBeGreaterThan(startAt + relayLimits.offlineAfterMs);
  });
});

describe('ten thousand messages that wait while the laptop sleeps for eight hours', () => {
  it('are all delivered in order, and the phone is told once', async () => {
    const bench = createBench();
    bench.poll();
    const count = relayLimits.mailboxMessages;
    for (let n = 1; n <= count; n += 1) {
      await bench.runUntil(startAt + Math.floor((n * 8 * hourMs) / count));
      expect(bench.say(`message ${n}`)).toBe('stored');
    }
    const got: string[] = [];
    for (let after = 0; after < count; ) {
      const { rows } = bench.poll({ after });
      got.push(...rows.map((row) => (row.kind === 'message' ? row.text : row.kind)));
      after = rows.at(-1)?.seq ?? count;
    }
    bench.poll({ after: count });
    await bench.runUntil(bench.clock.now + 60_000);
    expect(got).toEqual(Array.from({ length: count }, (_, index) => `message ${index + 1}`));
    expect(textsOf(bench.platform.calls).map((text) => text.slice(0, 24))).toEqual([
      `Workstation last seen ${clock(startAt).slice(0, 2)}`,
      'The workstation is back:',
    ]);
  });
});

describe('an expiry', () => {
  it('is told below the message, with Retry', async () => {
    const bench = createBench();
    bench.poll();
    bench.say('too late', { ref: '77' });
    await bench.runUntil(startAt + relayLimits.messageTtlMs + 2 * 60_000);
    expect(bench.platform.calls.slice(1)).toMatchObject([
      {
        kind: 'send',
        replyToRef: '77',
        text: 'This message expired before the agent took it.',
        buttons: [[{ label: 'Retry' }]],
      },
    ]);
  });

  it('of a batch is told once, and a slow stream of them once an hour', async () => {
    const bench = createBench();
    for (let n = 0; n < 30; n += 1) bench.say('at once');
    bench.clock.now += 10 * 60_000;
    for (let n = 0; n < 10; n += 1) {
      bench.say('one a minute');
      bench.clock.now += 60_000;
    }
    await bench.runUntil(startAt + relayLimits.messageTtlMs + 3 * hourMs);
    expect(textsOf(bench.platform.calls).slice(1)).toEqual([
      '30 messages expired before the agent took them. /letters lists them with Retry.',
      '10 messages expired before the agent took them. /letters lists them with Retry.',
    ]);
  });

  it('that a poll finds before the alarm is told as well', async () => {
    const bench = createBench();
    bench.poll();
    bench.say('too late');
    bench.clock.now += relayLimits.messageTtlMs;
    expect(bench.poll().rows).toMatchObject([{ seq: 1, expired: true }]);
    await bench.wake();
    expect(textsOf(bench.platform.calls)).toEqual(['This message expired before the agent took it.']);
  });

  it('comes when the relay was told to expire messages', () => {
    const bench = createBench({ messageTtlMs: hourMs });
    bench.say('short-lived');
    expect(bench.poll().rows).toMatchObject([{ expiresAt: startAt + hourMs }]);
  });
});

function clock(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(11, 16)} UTC`;
}

function clockWithDate(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
