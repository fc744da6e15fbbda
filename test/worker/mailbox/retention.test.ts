import { describe, expect, it } from 'vitest';
import { messageId } from '../../../protocol/ids.ts';
import { relayLimits } from '../../../protocol/limits.ts';
import type { Bench } from '../bench.ts';
import { createBench, epoch, startAt, textsOf } from '../bench.ts';

const hourMs = 3_600_000;
const idOf = (seq: number) => messageId(epoch, 0, seq);
const seqs = (answer: { rows: { seq: number }[] }) => answer.rows.map((row) => row.seq);

/** Takes everything and says so. */
function drain(bench: Bench): void {
  bench.poll({ after: bench.poll({ after: null }).rows.at(-1)?.seq ?? 0 });
}

describe('time', () => {
  it('leaves an expired message as an empty tombstone that the cursor can pass', () => {
    const bench = createBench();
    bench.say('too old');
    bench.clock.now += relayLimits.messageTtlMs;
    bench.say('fresh');
    const answer = bench.poll();
    expect(answer.rows[0]).toEqual({
      seq: 1,
      id: idOf(1),
      at: startAt,
      kind: 'message',
      text: '',
      expired: true,
      expiresAt: startAt + relayLimits.messageTtlMs,
    });
    expect(seqs(answer)).toEqual([1, 2]);
    expect(bench.poll({ after: 2 }).cursor).toBe(2);
  });

  it('expires waiting messages by the alarm, page by page, without a poll', async () => {
    const bench = createBench();
    for (let n = 0; n < 450; n += 1) bench.say('waits');
    bench.say('stop');
    await bench.runUntil(startAt + relayLimits.messageTtlMs + 120_000);
    expect(bench.logic.status().projects[0]).toMatchObject({ ladder: { expired: 450 }, oldestWaitingAt: null });
  });

  it('does not expire what the daemon has', async () => {
    const bench = createBench();
    bench.say('delivered');
    bench.poll({ after: 1 });
    await bench.runUntil(startAt + 2 * relayLimits.messageTtlMs);
    expect(bench.logic.status().projects[0]?.ladder).toEqual({ delivered: 1 });
  });

  it('deletes messages a day after their end, and nothing above the cursor', async () => {
    const bench = createBench();
    for (const text of ['answered', 'injected', 'waits']) bench.say(text);
    bench.poll({
      after: 2,
      receipts: [
        { id: idOf(1), attempt: 0, state: 'answered', at: startAt },
        { id: idOf(2), attempt: 0, state: 'injected', at: startAt },
      ],
    });
    const kept = () => bench.sql.exec<{ seq: number }>('SELECT seq FROM log ORDER BY seq').map((row) => row.seq);
    await bench.runUntil(startAt + 23 * hourMs);
    expect(kept()).toEqual([1, 2, 3]);
    await bench.runUntil(startAt + 48 * hourMs);
    expect(kept()).toEqual([2, 3]);
  });

  it('deletes controls a day after the cursor passed them, not after they came', async () => {
    const bench = createBench();
    bench.say('stop');
    await bench.runUntil(startAt + 60 * hourMs);
    const kept = () => bench.sql.exec<{ seq: number }>('SELECT seq FROM log').length;
    bench.poll({ after: 1 });
    await bench.runUntil(bench.clock.now + 23 * hourMs);
    expect(kept()).toBe(1);
    await bench.runUntil(bench.clock.now + 30 * hourMs);
    expect(kept()).toBe(0);
  });

  it('never uses a seq twice, also when every row is deleted', async () => {
    const bench = createBench();
    bench.say('one');
    drain(bench);
    bench.poll({ after: 1, receipts: [{ id: idOf(1), attempt: 0, state: 'answered', at: startAt }] });
    await bench.runUntil(startAt + 72 * hourMs);
    expect(bench.sql.exec('SELECT * FROM log')).toEqual([]);
    bench.restart();
    bench.say('two');
    expect(seqs(bench.poll({ after: 1 }))).toEqual([2]);
  });

  it('remembers updates for more than a day, and then forgets them, so that the memory does not grow', async () => {
    const bench = createBench();
    const count = () =>
      bench.sql.exec<{ n: number }>('SELECT (SELECT count(*) FROM dedupe_a) + (SELECT count(*) FROM dedupe_b) AS n')[0]
        ?.n;
    for (let hours = 0; hours < 400; hours += 5) {
      await bench.runUntil(startAt + hours * hourMs);
      bench.say('one', { dedupeKey: `at ${hours}` });
      expect(bench.say('one', { dedupeKey: `at ${hours}` })).toBe('duplicate');
      if (hours >= 25) expect(bench.say('one', { dedupeKey: `at ${hours - 25}` })).toBe('duplicate');
    }
    expect(count()).toBeLessThanOrEqual(16);
  });
});

describe('room', () => {
  it('refuses the message after the last place, tells the phone once, and still takes a STOP', async () => {
    const bench = createBench();
    bench.sql.transaction(() => {
      for (let n = 0; n < relayLimits.mailboxMessages; n += 1) bench.say('waits');
    });
    bench.platform.calls.length = 0;
    expect(bench.say('no room', { dedupeKey: 'again' })).toBe('full');
    expect(bench.say('no room', { dedupeKey: 'again' })).toBe('full');
    expect(bench.say('stop')).toBe('stored');
    await bench.runUntil(bench.clock.now + 10_000);
    expect(textsOf(bench.platform.calls).filter((text) => text.startsWith('The mailbox is full'))).toHaveLength(1);

    bench.poll({ after: 1 });
    expect(bench.say('no room', { dedupeKey: 'again' })).toBe('full');
    bench.poll({ after: 3 });
    expect(bench.say('no room', { dedupeKey: 'again' })).toBe('stored');
  });

  it('keeps a flood and tells the phone once', async () => {
    const bench = createBench();
    for (let n = 0; n < 200; n += 1) expect(bench.say('flood')).toBe('stored');
    await bench.runUntil(bench.clock.now + 10_000);
    expect(bench.platform.calls).toHaveLength(1);
    expect(bench.logic.status().projects[0]?.ladder).toEqual({ stored: 200 });
  });
});
