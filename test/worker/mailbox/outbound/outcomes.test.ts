import { describe, expect, it } from 'vitest';
import { messageId } from '../../../../protocol/ids.ts';
import { relayLimits } from '../../../../protocol/limits.ts';
import type { Row } from '../../../../protocol/log.ts';
import type { SendOutcome } from '../../../../worker/platform.ts';
import { createBench, daemon, epoch, scriptedPlatform, startAt } from '../../bench.ts';

const part = (text: string) => ({ text, entities: [] });
const retry: SendOutcome = { kind: 'retry', code: 'platform_error', reason: 'HTTP 502' };
const blocked: SendOutcome = { kind: 'dead', code: 'chat_unreachable', reason: 'Forbidden: blocked' };
const outcomesOf = (answer: { rows: Row[] } | undefined) =>
  answer?.rows.flatMap((row) => (row.kind === 'outcome' ? [{ seq: row.seq, ...row.outcome }] : []));

describe('the outcome of a posted key', () => {
  it('is a row of the log that ends a parked poll and comes again until the cursor passes it', async () => {
    const bench = createBench();
    bench.post({ key: 'answer-1' });
    const socket = bench.open();
    await bench.wake();
    const row = {
      seq: 1,
      id: messageId(epoch, 0, 1),
      at: startAt,
      kind: 'outcome',
      outcome: { key: 'answer-1', state: 'sent', ref: '101' },
    };
    const phone = expect.objectContaining({ maxText: 4096 });
    const answer = { epoch, now: startAt, rows: [row], controls: [], cursor: 0, phone };
    expect(socket.frame()).toEqual({ head: '200', body: answer });
    expect(bench.poll()).toEqual(answer);
    expect(bench.poll({ after: 1 })).toEqual({ ...answer, rows: [], cursor: 1 });
    expect(bench.poll()).toEqual({ ...answer, rows: [], cursor: 1 });
  });

  it('that came without a parked poll answers the next poll at once, also after the object was evicted', async () => {
    const bench = createBench();
    bench.post({ key: 'answer-1' });
    await bench.wake();
    bench.restart();
    expect(bench.open().frame()).toMatchObject({ head: '200', body: { rows: [{ outcome: { key: 'answer-1' } }] } });
  });

  it('stands in the order of what happened, between the messages', async () => {
    const bench = createBench();
    bench.say('before');
    bench.post({ key: 'answer-1' });
    await bench.wake();
    bench.say('after');
    expect(bench.poll().rows).toMatchObject([{ text: 'before' }, { kind: 'outcome' }, { text: 'after' }]);
  });

  it('is dead with its reason, and sent when the dead letter was sent again', async () => {
    const bench = createBench();
    bench.platform.script.push(blocked);
    bench.post({ key: 'answer-1' });
    await bench.wake();
    const dead = { seq: 1, key: 'answer-1', state: 'dead', error: { code: blocked.code, reason: blocked.reason } };
    expect(outcomesOf(bench.poll())).toEqual([dead]);
    bench.logic.actOnDeadLetter(0, 'answer-1', 'retry');
    await bench.wake();
    expect(outcomesOf(bench.poll())).toEqual([dead, { seq: 2, key: 'answer-1', state: 'sent', ref: '101' }]);
  });

  it('is dead for what could not be sent in time', async () => {
    const bench = createBench();
    bench.platform.script.push({ kind: 'pause', afterMs: relayLimits.outboxTtlMs, code: 'rate_limited', reason: 'no' });
    bench.post({ key: 'answer-1' });
    await bench.runUntil(startAt + relayLimits.outboxTtlMs);
    expect(outcomesOf(bench.poll())).toMatchObject([{ key: 'answer-1', state: 'dead', error: { code: 'expired' } }]);
  });

  it('comes with the last part, dead when any part died', async () => {
    const bench = createBench();
    bench.platform.script.push({ kind: 'sent' }, retry);
    bench.post({ key: 'answer-1', parts: [part('one'), part('two')] });
    await bench.wake();
    expect(bench.poll().rows).toEqual([]);
    bench.platform.script.push(blocked);
    await bench.runUntil(startAt + 5_000);
    expect(outcomesOf(bench.poll())).toMatchObject([{ key: 'answer-1', state: 'dead' }]);
  });

  it('is sent for an edit that a newer edit superseded before it went out, and wakes a parked poll', () => {
    const bench = createBench();
    const at = (rev: number) => ({ key: `question-${rev}`, class: 'approval' as const, slot: 'question', rev });
    bench.post(at(1));
    const socket = bench.open();
    bench.post(at(2));
    expect(outcomesOf(socket.frame()?.body)).toEqual([{ seq: 1, key: 'question-1', state: 'sent' }]);
  });

  it('is stored with the state that it tells, or neither is', async () => {
    const bench = createBench();
    bench.post({ key: 'answer-1' });
    const { call } = bench.platform;
    bench.platform.call = (request) => {
      bench.sql.exec('ALTER TABLE log RENAME TO elsewhere');
      return call(request);
    };
    await bench.wake();
    bench.platform.call = call;
    bench.sql.exec('ALTER TABLE elsewhere RENAME TO log');
    bench.restart();
    expect(bench.post({ key: 'answer-1' })).toEqual([{ key: 'answer-1', state: 'sending' }]);
    await bench.wake();
    expect(outcomesOf(bench.poll())).toMatchObject([{ key: 'answer-1', state: 'sent' }]);
  });

  it('does not exist for progress, nor for what the relay itself sent', async () => {
    const bench = createBench();
    bench.say('/ping');
    bench.post({ key: 'progress-1', class: 'progress' });
    await bench.runUntil(startAt + 5_000);
    expect(bench.platform.calls).toHaveLength(2);
    expect(bench.open().frame()).toMatchObject({ head: 'parked' });
  });

  it('is known to any daemon that posts the key again, whichever daemon has acknowledged the row', async () => {
    const bench = createBench();
    bench.post({ key: 'answer-1' });
    await bench.wake();
    bench.clock.now += relayLimits.takeoverAfterMs;
    const other = { id: 'daemon-two', startedAt: startAt };
    bench.poll({ daemon: other, after: null });
    bench.poll({ daemon: other, after: 1 });
    bench.clock.now += relayLimits.takeoverAfterMs;
    // The answer's cursor is above what this daemon has: that is how it knows.
    expect(bench.poll({ daemon, after: 0 })).toMatchObject({ rows: [], cursor: 1 });
    expect(bench.post({ key: 'answer-1' })).toEqual([{ key: 'answer-1', state: 'sent', ref: '101' }]);
    expect(bench.poll({ daemon, after: 1 }).rows).toEqual([]);
  });

  it('is not handed out below the cursor to a daemon that lost its state', async () => {
    const bench = createBench();
    bench.say('work');
    bench.post({ key: 'answer-1' });
    await bench.wake();
    bench.poll({ after: 2 });
    expect(bench.poll({ epoch: null, after: null }).rows).toMatchObject([{ seq: 1, text: 'work' }]);
  });

  it('is not a message: it never waits, never expires, and goes a day after the cursor passed it', async () => {
    const bench = createBench({ platform: scriptedPlatform({ reactions: true }) });
    bench.post({ key: 'answer-1' });
    await bench.runUntil(startAt + 60 * 3_600_000);
    expect(bench.platform.calls).toHaveLength(1);
    expect(bench.logic.status().projects[0]).toMatchObject({ ladder: {}, oldestWaitingAt: null });
    expect(outcomesOf(bench.poll())).toHaveLength(1);
    bench.poll({ after: 1 });
    const kept = () => bench.sql.exec('SELECT seq FROM log').length;
    await bench.runUntil(bench.clock.now + 23 * 3_600_000);
    expect(kept()).toBe(1);
    await bench.runUntil(bench.clock.now + 30 * 3_600_000);
    expect(kept()).toBe(0);
  });
});
