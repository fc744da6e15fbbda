import { describe, expect, it } from 'vitest';
import { messageId } from '../../../../protocol/ids.ts';
import { relayLimits } from '../../../../protocol/limits.ts';
import type { ReportedState } from '../../../../protocol/receipts.ts';
import type { Bench } from '../../bench.ts';
import { createBench, epoch, mailbox, scriptedPlatform, startAt, textsOf } from '../../bench.ts';

const idOf = (seq: number) => messageId(epoch, 0, seq);
const lettersOf = (bench: Bench) => bench.logic.deadLetters(0).deadLetters;

/** A message that the daemon has and that ended so. */
function ended(bench: Bench, text: string, state: ReportedState): void {
  bench.say(text);
  const seq = bench.poll().rows.at(-1)?.seq ?? 0;
  bench.poll({ after: seq, receipts: [{ id: idOf(seq), attempt: 0, state, at: startAt }] });
}

async function deadAnswer(bench: Bench, key: string): Promise<void> {
  bench.platform.script.push({ kind: 'dead', code: 'chat_unreachable', reason: 'Forbidden: blocked' });
  bench.post({ key });
  await bench.wake();
}

const press = (bench: Bench, buttonId: string, userId = mailbox) =>
  bench.accept({
    dedupeKey: `press-${buttonId}-${bench.clock.now}`,
    project: 0,
    at: bench.clock.now,
    kind: 'button',
    buttonId,
    ref: '900',
    queryRef: 'query-1',
    userId,
  });

describe('dead letters', () => {
  it('are what ended without an answer and what could not be sent, newest first', async () => {
    const bench = createBench();
    ended(bench, 'first, a  rather long text that nobody wants to read again in full on a phone', 'lost');
    ended(bench, 'fine', 'answered');
    await bench.wake();
    bench.clock.now += 1_000;
    await deadAnswer(bench, 'answer-1');
    expect(lettersOf(bench)).toEqual([
      {
        id: 'answer-1',
        direction: 'out',
        project: 0,
        at: startAt + 1_000,
        state: 'dead',
        error: { code: 'chat_unreachable', reason: 'Forbidden: blocked' },
        preview: 'answer-1',
      },
      {
        id: idOf(1),
        direction: 'in',
        project: 0,
        at: startAt,
        state: 'lost',
        error: { code: 'lost', reason: 'it did not reach the agent' },
        preview: 'first, a rather long text that nobody wants to read again in…',
      },
    ]);
    expect(bench.logic.status().projects[0]?.deadLetters).toBe(2);
  });

  it.each(['lost', 'failed', 'refused', 'expired'] as const)('let a message that %s be sent again, once', (state) => {
    const bench = createBench();
    ended(bench, 'again', state);
    bench.clock.now += 60_000;
    expect(bench.logic.actOnDeadLetter(0, idOf(1), 'retry')).toEqual({ deadLetters: [] });
    expect(bench.poll({ after: 1 }).rows).toEqual([
      {
        seq: 2,
        id: idOf(2),
        at: startAt + 60_000,
        kind: 'message',
        text: 'again',
        expiresAt: startAt + 60_000 + relayLimits.messageTtlMs,
        retryOf: idOf(1),
      },
    ]);
    expect(() => bench.logic.actOnDeadLetter(0, idOf(1), 'retry')).toThrow(`has no dead letter ${idOf(1)}`);
  });

  it('send a corrected text, and the phone sees the new row go its way', async () => {
    const bench = createBench({ platform: scriptedPlatform({ reactions: true }) });
    bench.say('wrogn', { ref: '7' });
    bench.accept({ dedupeKey: 'e', project: 0, at: startAt, kind: 'edit', ref: '7', text: 'right' });
    bench.poll({ after: 2, receipts: [{ id: idOf(1), attempt: 0, state: 'failed', at: startAt }] });
    await bench.runUntil(startAt + 10_000);
    bench.logic.actOnDeadLetter(0, idOf(1), 'retry');
    expect(bench.poll({ after: 2 }).rows).toMatchObject([{ seq: 3, text: 'right', retryOf: idOf(1) }]);
    await bench.runUntil(startAt + 20_000);
    expect(bench.platform.calls.map((call) => call.kind === 'react' && [call.ref, call.reaction])).toEqual([
      ['7', 'failed'],
      ['7', 'seen'],
    ]);
  });

  it('end a parked poll when one is sent again', () => {
    const bench = createBench();
    ended(bench, 'again', 'lost');
    const socket = bench.open({ after: 1 });
    bench.logic.actOnDeadLetter(0, idOf(1), 'retry');
    expect(socket.frame()).toMatchObject({ head: '200', body: { rows: [{ seq: 2 }] } });
  });

  it('list what is delivered only while its workstation is away, and then it may go elsewhere or be dropped', () => {
    const bench = createBench();
    for (const text of ['one', 'two']) bench.say(text);
    bench.poll({ after: 2 });
    expect(lettersOf(bench)).toEqual([]);
    bench.clock.now += relayLimits.takeoverAfterMs;
    expect(lettersOf(bench)).toMatchObject([{ state: 'delivered' }, { state: 'delivered' }]);
    bench.logic.actOnDeadLetter(0, idOf(1), 'retry');
    bench.logic.actOnDeadLetter(0, idOf(2), 'drop');
    const other = { id: 'daemon-two', startedAt: startAt };
    expect(bench.poll({ after: null, daemon: other }).rows).toMatchObject([{ seq: 3, text: 'one', retryOf: idOf(1) }]);
    // The first workstation comes back and reports what it did meanwhile.
    bench.clock.now += relayLimits.takeoverAfterMs;
    bench.poll({ after: 3, receipts: [{ id: idOf(2), attempt: 0, state: 'answered', at: startAt }] });
    expect(bench.logic.status().projects[0]?.ladder).toEqual({ delivered: 1, refused: 1, lost: 1 });
  });

  it('queue the same key again, which then reaches its daemon as sent', async () => {
    const bench = createBench();
    await deadAnswer(bench, 'answer-1');
    bench.logic.actOnDeadLetter(0, 'answer-1', 'retry');
    await bench.wake();
    expect(textsOf(bench.platform.calls)).toEqual(['answer-1', 'answer-1']);
    expect(bench.post({ key: 'answer-1' })).toEqual([{ key: 'answer-1', state: 'sent', ref: expect.any(String) }]);
    expect(lettersOf(bench)).toEqual([]);
  });

  it('are gone when they are dropped, and stay dead for their daemon', async () => {
    const bench = createBench();
    await deadAnswer(bench, 'answer-1');
    expect(bench.logic.status().outbox.dead).toBe(1);
    expect(bench.logic.actOnDeadLetter(0, 'answer-1', 'drop')).toEqual({ deadLetters: [] });
    expect(bench.logic.status().outbox.dead).toBe(0);
    expect(bench.post({ key: 'answer-1' })).toMatchObject([{ state: 'dead' }]);
  });

  it.each(['nonsense', 'msg_e0_0_9', 'msg_zz_0_1'])('of the id %s are not found', (id) => {
    const bench = createBench();
    expect(() => bench.logic.actOnDeadLetter(0, id, 'drop')).toThrow('has no dead letter');
  });
});

describe('/letters on the phone', () => {
  it('lists them with Retry and Drop below, which act when pressed', async () => {
    const bench = createBench();
    ended(bench, 'again', 'refused');
    ended(bench, 'away with it', 'refused');
    await bench.runUntil(startAt + 10_000);
    bench.platform.calls.length = 0;
    bench.say('/letters');
    await bench.wake();
    const [list] = bench.platform.calls;
    const buttons = list?.kind === 'send' ? list.buttons : [];
    expect(buttons.map((row) => row.map(({ label }) => label))).toEqual([
      ['Retry 1', 'Drop 1'],
      ['Retry 2', 'Drop 2'],
    ]);
    const at = new Date(startAt).toISOString().slice(11, 16);
    // With buttons, nobody types an id.
    expect(textsOf(bench.platform.calls)).toEqual([
      'Messages that were not delivered:\n\n' +
        `1. ${at} UTC to the agent, refused, you were asked what to do with it:\naway with it\n\n` +
        `2. ${at} UTC to the agent, refused, you were asked what to do with it:\nagain`,
    ]);
    press(bench, buttons[1]?.[0]?.id ?? '');
    press(bench, buttons[0]?.[1]?.id ?? '');
    bench.clock.now += 1;
    press(bench, buttons[0]?.[1]?.id ?? '');
    expect(bench.poll({ after: 2 })).toMatchObject({ rows: [{ seq: 3, retryOf: idOf(1) }], controls: [] });
    await bench.runUntil(startAt + 20_000);
    expect(bench.platform.calls.slice(1)).toMatchObject([
      {
        kind: 'edit',
        ref: '900',
        text: 'This was done before.\n\nNothing here: every message was delivered or is on its way.',
        buttons: [],
      },
      { kind: 'acknowledge', text: 'Queued again.' },
      { kind: 'acknowledge', text: 'Dropped.' },
      { kind: 'acknowledge', text: 'This was done before.' },
    ]);
  });

  it('takes retry and drop as words, with the start of an id that is the only one', async () => {
    const bench = createBench();
    await deadAnswer(bench, 'abcdef1234');
    bench.say('/letters retry abcdef');
    await bench.wake();
    bench.say(`/letters drop ${idOf(9)}`);
    bench.say('/letters retry');
    bench.say('/letters');
    await bench.runUntil(startAt + 10_000);
    expect(textsOf(bench.platform.calls)).toEqual([
      'abcdef1234',
      'Queued again.',
      'abcdef1234',
      'This message is no longer in the mailbox.',
      'Write /letters retry ID; /letters lists them with their ids.',
      'Nothing here: every message was delivered or is on its way.',
    ]);
  });

  it('works without buttons, by ids', async () => {
    const bench = createBench({ platform: scriptedPlatform({ buttons: false }) });
    ended(bench, 'again', 'refused');
    bench.say('/letters');
    await bench.runUntil(startAt + 10_000);
    expect(bench.platform.calls).toMatchObject([{ kind: 'send', buttons: [] }]);
    expect(textsOf(bench.platform.calls)[0]).toMatch(
      new RegExp(`again\\n${idOf(1)}\\n\\nWrite /letters retry ID or /letters drop ID.$`),
    );
  });
});
