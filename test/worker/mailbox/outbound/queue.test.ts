import { describe, expect, it } from 'vitest';
import { WaError } from '../../../../protocol/errors.ts';
import { relayLimits } from '../../../../protocol/limits.ts';
import { watchdogMs } from '../../../../worker/mailbox/alarm.ts';
import type { SendOutcome } from '../../../../worker/platform.ts';
import { createBench, mailbox, scriptedPlatform, startAt, textsOf } from '../../bench.ts';

const part = (text: string) => ({ text, entities: [] });
const pause = (afterMs: number): SendOutcome => ({ kind: 'pause', afterMs, code: 'rate_limited', reason: 'too many' });
const retry: SendOutcome = { kind: 'retry', code: 'platform_error', reason: 'HTTP 502' };

describe('the outbox', () => {
  it('sends one call per part, with the buttons below the last and the reply at the first', async () => {
    const bench = createBench();
    bench.say('question', { ref: '77' });
    bench.post({
      key: 'key-0001',
      parts: [part('one'), part('two')],
      replyTo: 'msg_e0_0_1',
      buttons: [[{ label: 'Yes', action: 'approve', style: 'success' }]],
    });
    await bench.wake();
    expect(bench.platform.calls).toEqual([
      { kind: 'send', chatId: mailbox, topic: 0, replyToRef: '77', text: 'one', entities: [], buttons: [] },
      {
        kind: 'send',
        chatId: mailbox,
        topic: 0,
        text: 'two',
        entities: [],
        buttons: [[{ label: 'Yes', id: 'id-1', style: 'success' }]],
      },
    ]);
    expect(bench.post({ key: 'key-0001' })).toEqual([{ key: 'key-0001', state: 'sent', ref: '102' }]);
  });

  it('answers a known key with its state and sends it once', async () => {
    const bench = createBench();
    expect(bench.post({ key: 'key-0001' }, { key: 'key-0001' })).toEqual([
      { key: 'key-0001', state: 'queued' },
      { key: 'key-0001', state: 'queued' },
    ]);
    bench.restart();
    bench.post({ key: 'key-0001' });
    await bench.wake();
    bench.post({ key: 'key-0001' });
    await bench.wake();
    expect(textsOf(bench.platform.calls)).toEqual(['key-0001']);
  });

  it('goes out at once, and by the alarm when the object dies before', async () => {
    const bench = createBench();
    await bench.wake();
    bench.post({ key: 'key-0001' });
    expect(bench.alarmAt()).toBe(startAt + watchdogMs);
    await bench.rest();
    expect(textsOf(bench.platform.calls)).toEqual(['key-0001']);
    bench.post({ key: 'key-0002' });
    bench.restart();
    await bench.runUntil(startAt + watchdogMs);
    expect(textsOf(bench.platform.calls)).toEqual(['key-0001', 'key-0002']);
  });

  it('sends in the order of the classes and first in, first out inside a class', async () => {
    const bench = createBench();
    bench.post(
      { key: 'progress-1', class: 'progress' },
      { key: 'answer-1', class: 'answer' },
      { key: 'answer-2', class: 'answer' },
      { key: 'approval-1', class: 'approval' },
      { key: 'reply-01', class: 'reply' },
    );
    await bench.runUntil(startAt + 10_000);
    expect(textsOf(bench.platform.calls)).toEqual(['reply-01', 'approval-1', 'answer-1', 'answer-2', 'progress-1']);
  });

  it('holds a private chat to a burst of three and one a second', async () => {
    const bench = createBench();
    for (let n = 0; n < 6; n += 1) bench.post({ key: `answer-${n}` });
    const sentAt: number[] = [];
    bench.platform.script.push(
      ...Array.from({ length: 6 }, () => () => {
        sentAt.push(bench.clock.now - startAt);
        return { kind: 'sent' as const };
      }),
    );
    await bench.runUntil(startAt + 60_000);
    expect(sentAt).toEqual([0, 0, 0, 1000, 2000, 3000]);
  });

  it('holds a group to twenty a minute, also after the object was evicted', async () => {
    const bench = createBench({ chatId: '-100200' });
    for (let n = 0; n < 60; n += 1) bench.post({ key: `answer-${n}` });
    await bench.runUntil(startAt + 30_000);
    bench.restart();
    await bench.runUntil(startAt + 60_000);
    // A burst of twenty and the twenty of that minute.
    expect(bench.platform.calls.length).toBeLessThanOrEqual(41);
    expect(bench.platform.calls.length).toBeGreaterThan(30);
  });

  it('obeys a pause of hours for everything, also after the object was evicted, and says so in the status', async () => {
    const bench = createBench();
    bench.platform.script.push(pause(13_938_000));
    bench.post({ key: 'answer-1' });
    await bench.wake();
    bench.post({ key: 'reply-01', class: 'reply' });
    bench.restart();
    await bench.runUntil(startAt + 13_937_999);
    expect(bench.platform.calls).toHaveLength(1);
    expect(bench.logic.status().paused).toEqual({ code: 'rate_limited', untilAt: startAt + 13_938_000 });
    await bench.runUntil(startAt + 13_938_000);
    expect(textsOf(bench.platform.calls)).toEqual(['answer-1', 'reply-01', 'answer-1']);
    expect(bench.logic.metrics().counts.rate_limited).toBe(1);
  });

  it('backs off 1, 2, 4 ... 30 s without an end but the time to live', async () => {
    const bench = createBench();
    const calledAt: number[] = [];
    bench.platform.script.push(
      ...Array.from({ length: 40_000 }, () => () => {
        calledAt.push((bench.clock.now - startAt) / 1000);
        return retry;
      }),
    );
    bench.post({ key: 'answer-1' });
    await bench.runUntil(startAt + 200_000);
    expect(calledAt).toEqual([0, 1, 3, 7, 15, 31, 61, 91, 121, 151, 181]);
    bench.clock.now = startAt + relayLimits.outboxTtlMs;
    await bench.wake();
    expect(bench.post({ key: 'answer-1' })).toEqual([
      { key: 'answer-1', state: 'dead', error: { code: 'expired', reason: 'it could not be sent in time' } },
    ]);
  });

  it('lets a reply pass an answer that backs off', async () => {
    const bench = createBench();
    bench.platform.script.push(retry);
    bench.post({ key: 'answer-1' }, { key: 'answer-2' });
    await bench.wake();
    bench.post({ key: 'reply-01', class: 'reply' });
    await bench.runUntil(startAt + 5_000);
    expect(textsOf(bench.platform.calls)).toEqual(['answer-1', 'reply-01', 'answer-1', 'answer-2']);
  });

  it('sends a call under way when the object died once more, and counts a possible duplicate', async () => {
    const bench = createBench();
    await bench.wake();
    const called = new Promise<void>((resolve) => {
      bench.platform.script.push(() => {
        resolve();
        return new Promise(() => {});
      });
    });
    bench.post({ key: 'answer-1' });
    await called;
    expect(bench.post({ key: 'answer-1' })).toEqual([{ key: 'answer-1', state: 'sending' }]);
    // No other event may ever wake the object again.
    expect(bench.alarmAt()).toBe(startAt + watchdogMs);
    bench.restart();
    await bench.wake();
    expect(textsOf(bench.platform.calls)).toEqual(['answer-1', 'answer-1']);
    expect(bench.post({ key: 'answer-1' })).toEqual([{ key: 'answer-1', state: 'sent', ref: expect.any(String) }]);
    expect(bench.logic.metrics().counts.possible_duplicates).toBe(1);
  });

  it('lets younger keys pass a key that has failed ten times, and goes on trying its parts in order', async () => {
    const bench = createBench();
    const { call } = bench.platform;
    let broken = true;
    bench.platform.call = (request) => {
      if (broken && request.kind === 'send' && request.text.startsWith('bad')) bench.platform.script.unshift(retry);
      return call(request);
    };
    bench.post({ key: 'answer-1', parts: [part('bad 1'), part('bad 2')] }, { key: 'answer-2' });
    await bench.runUntil(startAt + 100_000);
    expect(bench.post({ key: 'answer-2' })).toEqual([{ key: 'answer-2', state: 'queued' }]);
    await bench.runUntil(startAt + 200_000);
    expect(bench.post({ key: 'answer-2' })).toEqual([{ key: 'answer-2', state: 'sent', ref: expect.any(String) }]);
    broken = false;
    await bench.runUntil(startAt + 300_000);
    expect(textsOf(bench.platform.calls).slice(-2)).toEqual(['bad 1', 'bad 2']);
    expect(bench.post({ key: 'answer-1' })).toEqual([{ key: 'answer-1', state: 'sent', ref: expect.any(String) }]);
  });

  it('repeats without what the platform refused, and gives up when that does not help', async () => {
    const bench = createBench();
    const refuse: SendOutcome = { kind: 'without', what: 'entities', reason: "can't parse entities" };
    bench.platform.script.push(refuse, { kind: 'sent' }, refuse, refuse);
    const parts = [{ text: 'bold', entities: [{ type: 'bold', offset: 0, length: 4 }] }];
    bench.post({ key: 'answer-1', parts }, { key: 'answer-2', parts });
    await bench.runUntil(startAt + 10_000);
    expect(bench.platform.calls.map((call) => call.kind === 'send' && call.entities.length)).toEqual([1, 0, 1, 0]);
    expect(bench.post({ key: 'answer-1' }, { key: 'answer-2' })).toEqual([
      { key: 'answer-1', state: 'sent' },
      { key: 'answer-2', state: 'dead', error: { code: 'rejected', reason: "can't parse entities" } },
    ]);
  });

  it('keeps a dead letter with its reason and its text, and goes on with the next', async () => {
    const bench = createBench();
    bench.platform.script.push({ kind: 'dead', code: 'chat_unreachable', reason: 'Forbidden: blocked' });
    bench.post({ key: 'answer-1' }, { key: 'answer-2' });
    await bench.wake();
    expect(bench.post({ key: 'answer-1' }, { key: 'answer-2' })).toEqual([
      { key: 'answer-1', state: 'dead', error: { code: 'chat_unreachable', reason: 'Forbidden: blocked' } },
      { key: 'answer-2', state: 'sent', ref: expect.any(String) },
    ]);
    expect(bench.logic.status().outbox).toEqual({ queued: 0, sending: 0, sent: 1, dead: 1 });
    expect(bench.sql.exec("SELECT call <> '' AS kept FROM outbox WHERE state = 'dead'")).toEqual([{ kept: 1 }]);
  });

  it('refuses a part that is longer than the platform takes', () => {
    const bench = createBench({ platform: scriptedPlatform({ maxText: 10 }) });
    expect(() => bench.post({ key: 'answer-1', parts: [part('x'.repeat(11))] })).toThrow(WaError);
  });
});

describe('a slot', () => {
  const at = (rev: number, slot = 'turn') => ({
    key: `slot-rev-${rev}`,
    class: 'progress' as const,
    slot,
    rev,
    parts: [part(`rev ${rev}`)],
  });

  it('is one phone message, edited in place', async () => {
    const bench = createBench();
    bench.post(at(1));
    await bench.wake();
    bench.post(at(2));
    await bench.wake();
    expect(bench.platform.calls).toMatchObject([
      { kind: 'send', text: 'rev 1' },
      { kind: 'edit', ref: '101', text: 'rev 2' },
    ]);
  });

  it('sends only the newest of the revs that wait, in the place of the first', async () => {
    const bench = createBench();
    bench.platform.script.push(pause(1_000));
    bench.post(at(1));
    await bench.wake();
    bench.post({ key: 'later-01', class: 'progress' }, at(2), at(4), at(3));
    await bench.runUntil(startAt + 20_000);
    expect(textsOf(bench.platform.calls)).toEqual(['rev 1', 'rev 4', 'later-01']);
    expect(bench.post(at(1), at(2), at(3), at(4)).map(({ state }) => state)).toEqual(['sent', 'sent', 'sent', 'sent']);
  });

  it('becomes a new message when the old message can no longer be edited', async () => {
    const bench = createBench();
    bench.post(at(1));
    await bench.wake();
    bench.platform.script.push({ kind: 'without', what: 'target', reason: 'message to edit not found' });
    bench.post(at(2));
    await bench.wake();
    bench.post(at(3));
    await bench.runUntil(startAt + 10_000);
    expect(bench.platform.calls).toMatchObject([
      { kind: 'send', text: 'rev 1' },
      { kind: 'edit', ref: '101', text: 'rev 2' },
      { kind: 'send', text: 'rev 2' },
      { kind: 'edit', ref: '102', text: 'rev 3' },
    ]);
  });
});

describe('a group that becomes a supergroup', () => {
  it('gets its waiting sends under the new id, and is told once', async () => {
    const bench = createBench({ chatId: '-4000001' });
    bench.post({ key: 'answer-1' });
    bench.platform.script.push({ kind: 'migrate', chatId: '-1001' });
    await bench.runUntil(startAt + 10_000);
    bench.accept({ dedupeKey: 'm', project: 0, at: startAt, kind: 'migrated', toChatId: '-1001' });
    await bench.runUntil(startAt + 20_000);
    expect(bench.platform.calls.map((call) => call.kind === 'send' && [call.chatId, call.text.slice(0, 30)])).toEqual([
      ['-4000001', 'answer-1'],
      ['-1001', 'This group is now a supergroup'],
      ['-1001', 'answer-1'],
    ]);
  });

  it('keeps its old mailbox readable', () => {
    const bench = createBench({ chatId: '-4000001' });
    bench.say('before');
    bench.accept({ dedupeKey: 'm', project: 0, at: startAt, kind: 'migrated', toChatId: '-1001' });
    expect(bench.poll().rows).toMatchObject([{ seq: 1, text: 'before' }]);
  });
});
