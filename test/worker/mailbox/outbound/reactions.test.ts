import { describe, expect, it } from 'vitest';
import { messageId } from '../../../../protocol/ids.ts';
import { relayLimits } from '../../../../protocol/limits.ts';
import type { Receipt, ReportedState } from '../../../../protocol/receipts.ts';
import type { OutboundCall } from '../../../../worker/platform.ts';
import { createBench, epoch, mailbox, scriptedPlatform, startAt, textsOf } from '../../bench.ts';

const idOf = (seq: number) => messageId(epoch, 0, seq);
const reactingBench = () => createBench({ platform: scriptedPlatform({ reactions: true }) });
const receipt = (seq: number, state: ReportedState, attempt = 0) => ({ id: idOf(seq), attempt, state, at: startAt });
const reactionsOf = (calls: readonly OutboundCall[], ref = '1') =>
  calls.flatMap((call) => (call.kind === 'react' && call.ref === ref ? [call.reaction] : []));

describe('the ladder of a message on the phone', () => {
  it('is one reaction, changed at each step that shows', async () => {
    const bench = reactingBench();
    bench.say('work');
    for (const states of [[], ['taken'], ['injected'], ['answered']] as ReportedState[][]) {
      await bench.runUntil(bench.clock.now + 10_000);
      bench.poll({ after: 1, receipts: states.map((state) => receipt(1, state)) });
    }
    await bench.runUntil(bench.clock.now + 10_000);
    expect(bench.platform.calls).toEqual(
      ['seen', 'working', 'done'].map((reaction) => ({ kind: 'react', chatId: mailbox, ref: '1', reaction })),
    );
  });

  it.each(['failed', 'expired', 'refused', 'lost'] as const)('ends in a refusal when it is %s', async (state) => {
    const bench = reactingBench();
    bench.say('work');
    bench.poll({ after: 1, receipts: [receipt(1, state)] });
    await bench.runUntil(startAt + 10_000);
    expect(reactionsOf(bench.platform.calls)).toEqual(['failed']);
  });

  it('costs no look at an outbox that is known to be empty while it waits for its turn', async () => {
    const bench = reactingBench();
    const costOfOne = async () => {
      const before = bench.sql.statements();
      bench.say('work');
      await bench.rest();
      return bench.sql.statements() - before;
    };
    // These use up the turns of the chat.
    for (let n = 0; n < 5; n += 1) await costOfOne();
    // Two for the memory of updates, the size of the mailbox, the row.
    expect(await costOfOne()).toBe(4);
    bench.post({ key: 'news' });
    await bench.runUntil(startAt + 10_000);
    expect(textsOf(bench.platform.calls)).toEqual(['news']);
  });

  it('leaves out a step that was superseded before it could be shown', async () => {
    const bench = reactingBench();
    bench.platform.script.push({ kind: 'pause', afterMs: 60_000, code: 'rate_limited', reason: 'too many' });
    bench.say('work');
    await bench.wake();
    bench.poll({ after: 1, receipts: [receipt(1, 'injected')] });
    bench.poll({ after: 1, receipts: [receipt(1, 'answered')] });
    await bench.runUntil(startAt + 120_000);
    expect(reactionsOf(bench.platform.calls)).toEqual(['seen', 'done']);
  });

  it('starts again after a proof that an attempt was lost', async () => {
    const bench = reactingBench();
    bench.say('work');
    for (const next of [receipt(1, 'lost'), receipt(1, 'injected', 1), receipt(1, 'answered', 1)]) {
      bench.poll({ after: 1, receipts: [next] });
      await bench.runUntil(bench.clock.now + 10_000);
    }
    expect(reactionsOf(bench.platform.calls)).toEqual(['failed', 'working', 'done']);
  });

  it('is found again by a fresh object, once, also far back', async () => {
    const bench = reactingBench();
    for (let n = 0; n < 100; n += 1) bench.say('work');
    bench.restart();
    await bench.runUntil(startAt + 300_000);
    bench.restart();
    await bench.wake();
    const refs = bench.platform.calls.flatMap((call) => (call.kind === 'react' ? [Number(call.ref)] : []));
    expect(refs).toEqual(Array.from({ length: 100 }, (_, index) => 100 - index));
  });

  it('is found again behind pages of messages that show theirs, all of them, newest first', async () => {
    const bench = reactingBench();
    const count = 500;
    bench.platform.script.push({ kind: 'pause', afterMs: 60_000, code: 'rate_limited', reason: 'too many' });
    for (let n = 0; n < 400; n += 1) bench.say('unshown');
    await bench.rest();
    // The younger ones show theirs, as if the older ones had been forgotten.
    for (let n = 400; n < count; n += 1) bench.say('shown');
    await bench.runUntil(startAt + 60_000 + 100_000);
    const before = bench.platform.calls.length;
    const refs = () => bench.platform.calls.flatMap((call) => (call.kind === 'react' ? [Number(call.ref)] : []));
    expect(Math.min(...refs())).toBeGreaterThan(390);
    bench.restart();
    await bench.runUntil(startAt + 600_000);
    const rest = refs().slice(before);
    expect(rest).toEqual([...rest].sort((a, b) => b - a));
    expect(new Set(refs()).size).toBe(count);
    expect(refs()).toHaveLength(count);
  });

  it('of a message deep below is found by a fresh object when its turn ended long after those of the others', async () => {
    const bench = reactingBench();
    for (let n = 0; n < 100; n += 1) bench.say('work');
    await bench.runUntil(startAt + 300_000);
    bench.poll({
      after: 100,
      receipts: [...Array(100).keys()].slice(1).map((index) => receipt(index + 1, 'answered')),
    });
    await bench.runUntil(startAt + 600_000);
    bench.platform.script.push({ kind: 'pause', afterMs: 60_000, code: 'rate_limited', reason: 'too many' });
    bench.poll({ after: 100, receipts: [receipt(1, 'answered')] });
    await bench.rest();
    bench.restart();
    await bench.runUntil(startAt + 900_000);
    expect(reactionsOf(bench.platform.calls)).toEqual(['seen', 'done', 'done']);
  });

  it('of a dead letter that its owner has dropped is found by a fresh object', async () => {
    const bench = reactingBench();
    bench.say('work');
    await bench.runUntil(startAt + 10_000);
    bench.poll({ after: 1 });
    bench.clock.now += relayLimits.takeoverAfterMs;
    bench.logic.actOnDeadLetter(0, idOf(1), 'drop');
    bench.restart();
    await bench.runUntil(bench.clock.now + 10_000);
    expect(reactionsOf(bench.platform.calls)).toEqual(['seen', 'failed']);
  });

  it('waits behind everything that people read and leaves it a token', async () => {
    const bench = reactingBench();
    for (let n = 0; n < 3; n += 1) bench.say('work');
    bench.post({ key: 'answer-1' });
    await bench.wake();
    expect(bench.platform.calls.map(({ kind }) => kind)).toEqual(['send', 'react']);
    bench.post({ key: 'answer-2' });
    await bench.wake();
    expect(bench.platform.calls.map(({ kind }) => kind)).toEqual(['send', 'react', 'send']);
  });

  it('is given up for a message that takes no reactions, and only for that one', async () => {
    const bench = reactingBench();
    bench.say('gone');
    bench.platform.script.push({ kind: 'dead', code: 'rejected', reason: 'REACTION_INVALID' });
    await bench.runUntil(startAt + 10_000);
    bench.say('here');
    bench.poll({ after: 2, receipts: [receipt(1, 'answered'), receipt(2, 'answered')] });
    bench.restart();
    await bench.runUntil(startAt + 30_000);
    expect(reactionsOf(bench.platform.calls, '1')).toEqual(['seen']);
    expect(reactionsOf(bench.platform.calls, '2')).toEqual(['done']);
  });

  it('is tried again after a failure of the platform', async () => {
    const bench = reactingBench();
    bench.say('work');
    bench.platform.script.push({ kind: 'retry', code: 'platform_error', reason: 'HTTP 502' });
    await bench.runUntil(startAt + 10_000);
    expect(reactionsOf(bench.platform.calls)).toEqual(['seen', 'seen']);
  });

  it('of a command shows what becomes of the text behind it, from the first report of the daemon on', async () => {
    const bench = reactingBench();
    bench.say('/new claude fix the test');
    bench.poll({ after: 1 });
    await bench.runUntil(startAt + 10_000);
    expect(bench.platform.calls).toEqual([]);
    bench.poll({ after: 1, receipts: [receipt(1, 'injected')] });
    await bench.runUntil(startAt + 20_000);
    bench.poll({ after: 1, receipts: [receipt(1, 'answered')] });
    bench.restart();
    await bench.runUntil(startAt + 30_000);
    expect(reactionsOf(bench.platform.calls)).toEqual(['working', 'done']);
  });

  describe('after a correction of a message that the agent already had', () => {
    async function corrected() {
      const bench = reactingBench();
      bench.say('work');
      bench.poll({ after: 1 });
      await bench.runUntil(startAt + 10_000);
      for (const text of ['wrok', 'rest'])
        bench.accept({ dedupeKey: text, project: 0, at: startAt, kind: 'edit', ref: '1', text });
      bench.poll({ after: 3 });
      const reports = async (...receipts: Receipt[]) => {
        bench.poll({ after: 3, receipts });
        await bench.runUntil(bench.clock.now + 10_000);
      };
      return { bench, reports, shown: () => reactionsOf(bench.platform.calls) };
    }

    it('is that of the new words from the first report on them, whatever becomes of the old ones', async () => {
      const { bench, reports, shown } = await corrected();
      await reports(receipt(1, 'injected'));
      await reports(receipt(3, 'injected'));
      await reports(receipt(1, 'failed'));
      await reports(receipt(3, 'answered'));
      bench.restart();
      await reports();
      expect(shown()).toEqual(['seen', 'working', 'working', 'done']);
    });

    it('is that of the new words when both reports come at once', async () => {
      const { reports, shown } = await corrected();
      await reports(receipt(3, 'answered'), receipt(2, 'lost'), receipt(1, 'failed'));
      expect(shown()).toEqual(['seen', 'done']);
    });

    it('is that of the new words when the report comes while a reaction to the old ones is on its way', async () => {
      const { bench, reports, shown } = await corrected();
      bench.platform.script.push(() => {
        bench.poll({ after: 3, receipts: [receipt(3, 'failed')] });
        return { kind: 'sent', ref: '' };
      });
      await reports(receipt(1, 'injected'));
      await reports(receipt(1, 'answered'));
      bench.restart();
      await reports();
      expect(shown()).toEqual(['seen', 'working', 'failed']);
    });

    it.each([
      ['nothing is reported', []],
      ['is reported only that another program took', [receipt(3, 'taken')]],
    ])(
      'stays that of the message while %s of the new words, which may still replace the old ones',
      async (_, receipts) => {
        const { reports, shown } = await corrected();
        await reports(...receipts);
        await reports(receipt(1, 'answered'));
        expect(shown()).toEqual(['seen', 'done']);
      },
    );

    it('is that of the message sent again, whatever becomes of the words before', async () => {
      const { bench, reports, shown } = await corrected();
      await reports(receipt(1, 'failed'));
      bench.logic.actOnDeadLetter(0, idOf(1), 'retry');
      bench.poll({ after: 4 });
      await reports();
      await reports(receipt(2, 'failed'));
      await reports(receipt(4, 'answered'));
      await reports(receipt(3, 'lost'));
      bench.restart();
      await reports();
      expect(shown()).toEqual(['seen', 'failed', 'seen', 'done']);
    });

    it.each(['failed', 'expired', 'lost'] as const)(
      'is a refusal when the new words are %s, which can be sent again',
      async (state) => {
        const { bench, reports, shown } = await corrected();
        await reports(receipt(3, state));
        expect(shown()).toEqual(['seen', 'failed']);
        expect(bench.logic.deadLetters(0).deadLetters).toMatchObject([{ id: idOf(3), state, preview: 'rest' }]);
        bench.logic.actOnDeadLetter(0, idOf(3), 'retry');
        const [again] = bench.poll({ after: 3 }).rows;
        expect(again).toEqual({
          ...{ seq: again?.seq, id: again?.id, at: bench.clock.now, kind: 'message', text: 'rest' },
          ...{ retryOf: idOf(3), expiresAt: bench.clock.now + relayLimits.messageTtlMs },
        });
      },
    );

    it('climbs as long as that of a message, however long ago the correction was handed out', async () => {
      const { bench, reports, shown } = await corrected();
      await reports(receipt(3, 'injected'));
      for (let day = 1; day <= 3; day += 1) {
        await bench.runUntil(startAt + day * 86_400_000);
        bench.poll({ after: 3 });
      }
      await reports(receipt(3, 'answered'));
      expect(shown()).toEqual(['seen', 'working', 'done']);
    });
  });

  it('does not exist for controls without a text for the agent, nor on a platform without reactions', async () => {
    const bench = reactingBench();
    bench.say('stop');
    bench.poll({ after: 1 });
    await bench.runUntil(startAt + 10_000);
    const plain = createBench();
    plain.say('work');
    await plain.runUntil(startAt + 10_000);
    expect([...bench.platform.calls, ...plain.platform.calls]).toEqual([]);
  });
});

describe('the end of a message without an answer', () => {
  it.each([
    ['lost', 'This message did not reach the agent, in three attempts.'],
    ['expired', 'This message expired before the agent took it.'],
  ] as const)('%s is told in one line below the message', async (state, text) => {
    const bench = createBench();
    bench.say('work', { ref: '77' });
    bench.poll({ after: 1, receipts: [receipt(1, state)] });
    bench.poll({ after: 1, receipts: [receipt(1, state)] });
    await bench.runUntil(startAt + 10_000);
    expect(bench.platform.calls).toMatchObject([{ kind: 'send', text, replyToRef: '77' }]);
    const [call] = bench.platform.calls;
    expect(call?.kind === 'send' && call.buttons.flat().map(({ label }) => label)).toEqual(['Retry']);
  });

  it('refused is left to the daemon, which knows why', async () => {
    const bench = createBench();
    bench.say('work');
    bench.poll({ after: 1, receipts: [receipt(1, 'refused')] });
    await bench.runUntil(startAt + 10_000);
    expect(bench.platform.calls).toEqual([]);
  });

  it('of many at once is one line', async () => {
    const bench = createBench();
    for (let n = 0; n < 5; n += 1) bench.say('work');
    bench.poll({ after: 5, receipts: [1, 2, 3, 4, 5].map((seq) => receipt(seq, 'lost')) });
    await bench.runUntil(startAt + 10_000);
    expect(textsOf(bench.platform.calls)).toEqual([
      '5 messages did not reach the agent, in three attempts each. /letters lists them with Retry.',
    ]);
  });

  const failure = { key: 'answer-1', replyTo: idOf(1), parts: [{ text: 'API error: quota', entities: [] }] };
  const retry = [[{ label: 'Retry', id: 'id-1' }]];

  it('in a failed turn is the words of the daemon with a Retry button, when they come after the report', async () => {
    const bench = createBench();
    bench.say('work');
    bench.poll({ after: 1, receipts: [receipt(1, 'failed')] });
    bench.post(failure);
    await bench.runUntil(startAt + 10_000);
    expect(bench.platform.calls).toMatchObject([{ kind: 'send', text: 'API error: quota', buttons: retry }]);
  });

  it('in a failed turn has that button too when the words still wait', async () => {
    const bench = createBench();
    bench.say('work');
    bench.post(failure);
    bench.poll({ after: 1, receipts: [receipt(1, 'failed')] });
    await bench.runUntil(startAt + 10_000);
    expect(bench.platform.calls).toMatchObject([{ kind: 'send', text: 'API error: quota', buttons: retry }]);
  });

  it('in a failed turn has that button too when the words are already shown', async () => {
    const bench = createBench();
    bench.say('work');
    bench.post(failure);
    await bench.wake();
    bench.poll({ after: 1, receipts: [receipt(1, 'failed')] });
    await bench.runUntil(startAt + 10_000);
    expect(bench.platform.calls).toMatchObject([
      { kind: 'send', text: 'API error: quota', buttons: [] },
      { kind: 'buttons', ref: '101', buttons: retry },
    ]);
  });

  it('in a failed turn has that button too when the report comes while the words are on their way', async () => {
    const bench = createBench();
    bench.say('work');
    bench.post(failure);
    bench.platform.script.push(() => {
      bench.poll({ after: 1, receipts: [receipt(1, 'failed')] });
      return { kind: 'sent', ref: '101' };
    });
    await bench.runUntil(startAt + 10_000);
    expect(bench.platform.calls).toMatchObject([
      { kind: 'send', text: 'API error: quota', buttons: [] },
      { kind: 'buttons', ref: '101', buttons: retry },
    ]);
  });

  it('in a failed turn has that button below the last part that is on its way', async () => {
    const bench = createBench();
    bench.say('work');
    bench.post({
      ...failure,
      parts: [
        { text: 'one', entities: [] },
        { text: 'two', entities: [] },
      ],
    });
    bench.platform.script.push({ kind: 'sent', ref: '101' }, () => {
      bench.poll({ after: 1, receipts: [receipt(1, 'failed')] });
      return { kind: 'sent', ref: '102' };
    });
    await bench.runUntil(startAt + 10_000);
    expect(bench.platform.calls).toMatchObject([
      { kind: 'send', text: 'one', buttons: [] },
      { kind: 'send', text: 'two', buttons: [] },
      { kind: 'buttons', ref: '102', buttons: retry },
    ]);
  });

  it('in a failed turn has that button once when the words on their way must be sent again', async () => {
    const bench = createBench();
    bench.say('work');
    bench.post(failure);
    bench.platform.script.push(() => {
      bench.poll({ after: 1, receipts: [receipt(1, 'failed')] });
      return { kind: 'retry', code: 'platform_error', reason: 'HTTP 502' };
    });
    await bench.runUntil(startAt + 10_000);
    expect(bench.platform.calls).toMatchObject([
      { kind: 'send', text: 'API error: quota', buttons: [] },
      { kind: 'send', text: 'API error: quota', buttons: retry },
    ]);
  });
});
