import { describe, expect, it } from 'vitest';
import { messageId } from '../../../../protocol/ids.ts';
import { relayLimits } from '../../../../protocol/limits.ts';
import { createBench, epoch, mailbox, startAt } from '../../bench.ts';

const idOf = (seq: number) => messageId(epoch, 0, seq);
const seqs = (answer: { rows: { seq: number }[] }) => answer.rows.map((row) => row.seq);

describe('the log', () => {
  it('stores a message and hands it out as a row with its id, time and expiry', () => {
    const bench = createBench();
    expect(bench.say('hello', { quote: 'before' })).toBe('stored');
    expect(bench.poll()).toEqual({
      epoch,
      now: startAt,
      rows: [
        {
          seq: 1,
          id: 'msg_e0_0_1',
          at: startAt,
          kind: 'message',
          text: 'hello',
          quote: 'before',
          expiresAt: startAt + relayLimits.messageTtlMs,
        },
      ],
      controls: [],
      cursor: 0,
      phone: expect.objectContaining({ owner: mailbox }),
    });
  });

  it('drops an update that comes twice', () => {
    const bench = createBench();
    bench.say('once', { dedupeKey: 'u' });
    expect(bench.say('once', { dedupeKey: 'u' })).toBe('duplicate');
    expect(seqs(bench.poll())).toEqual([1]);
  });

  it('keeps an update whose id is lower than the last id', () => {
    const bench = createBench();
    bench.say('late number', { dedupeKey: '870000100' });
    expect(bench.say('early number', { dedupeKey: '870000050' })).toBe('stored');
    expect(seqs(bench.poll())).toEqual([1, 2]);
  });

  it('stores neither the row nor the memory of the update when one of the two cannot be written', () => {
    const bench = createBench();
    bench.sql.exec('ALTER TABLE log RENAME TO elsewhere');
    expect(() => bench.say('first try', { dedupeKey: 'u' })).toThrow();
    bench.sql.exec('ALTER TABLE elsewhere RENAME TO log');
    expect(bench.say('first try', { dedupeKey: 'u' })).toBe('stored');
  });

  it('hands the same rows out again when the answer was lost', () => {
    const bench = createBench();
    bench.say('one');
    const first = bench.poll();
    expect(bench.poll()).toEqual(first);
  });

  it('moves the cursor to what the daemon has, and never back', () => {
    const bench = createBench();
    for (const text of ['one', 'two', 'three']) bench.say(text);
    expect(bench.poll({ after: 2 })).toMatchObject({ cursor: 2, rows: [{ seq: 3 }] });
    expect(bench.poll({ after: 1 })).toMatchObject({ cursor: 2 });
  });

  it.each([
    ['another epoch', { epoch: 'other', after: 2 }],
    ['no epoch', { epoch: null, after: 2 }],
    ['a lost state', { after: null }],
    ['an after above the highest seq', { after: 99 }],
  ])('sends everything below injected again after %s, and leaves the cursor', (_, request) => {
    const bench = createBench();
    for (const text of ['one', 'two', 'three', 'four']) bench.say(text);
    bench.poll({
      after: 3,
      receipts: [
        { id: idOf(1), attempt: 0, state: 'taken', at: startAt },
        { id: idOf(2), attempt: 0, state: 'injected', at: startAt },
      ],
    });
    const answer = bench.poll(request);
    expect(answer.cursor).toBe(3);
    expect(seqs(answer)).toEqual([1, 3, 4]);
    // It goes on from there page by page, with an after below the cursor.
    expect(seqs(bench.poll({ after: 1 }))).toEqual([3, 4]);
  });

  it('sends handled controls again only for ten minutes after a lost state', () => {
    const bench = createBench();
    bench.say('stop');
    bench.clock.now += 9 * 60_000;
    bench.say('/abort');
    bench.say('work');
    bench.poll({ after: 3 });
    expect(bench.poll({ after: null })).toMatchObject({
      rows: [{ seq: 1 }, { seq: 2 }, { seq: 3 }],
      controls: [{ seq: 1 }, { seq: 2 }],
    });
    bench.clock.now += 2 * 60_000;
    expect(bench.poll({ after: null })).toMatchObject({ rows: [{ seq: 2 }, { seq: 3 }], controls: [{ seq: 2 }] });
    bench.clock.now += 10 * 60_000;
    bench.say('/continue');
    expect(bench.poll({ after: null })).toMatchObject({ rows: [{ seq: 3 }, { seq: 4 }], controls: [{ seq: 4 }] });
  });

  it('takes a receipt for a control and does not send that control again', () => {
    const bench = createBench();
    bench.say('stop');
    bench.poll({ after: 1, receipts: [{ id: idOf(1), attempt: 0, state: 'answered', at: startAt }] });
    expect(bench.poll({ after: null })).toMatchObject({ rows: [], controls: [] });
  });

  it('keeps each project apart', () => {
    const bench = createBench();
    bench.say('for twelve', { project: 12 });
    bench.say('for zero');
    expect(bench.poll({ project: 12 }).rows).toMatchObject([{ seq: 1, id: 'msg_e0_c_1', text: 'for twelve' }]);
    expect(bench.poll().rows).toMatchObject([{ seq: 1, id: 'msg_e0_0_1', text: 'for zero' }]);
  });

  it('hands out at most a window of bytes, and a larger row alone', () => {
    const bench = createBench();
    const large = 'x'.repeat(relayLimits.pollWindowBytes + 1);
    const half = 'y'.repeat(relayLimits.pollWindowBytes / 2);
    for (const text of [large, half, half, 'z']) bench.say(text);
    expect(seqs(bench.poll())).toEqual([1]);
    expect(seqs(bench.poll({ after: 1 }))).toEqual([2]);
    expect(seqs(bench.poll({ after: 2 }))).toEqual([3, 4]);
  });

  it('hands controls out in addition to the window, however long the backlog', () => {
    const bench = createBench();
    const half = 'y'.repeat(relayLimits.pollWindowBytes / 2);
    for (const text of [half, half, half, 'STOP', '/sprint 3 "fix it"']) bench.say(text);
    const answer = bench.poll();
    expect(seqs(answer)).toEqual([1]);
    expect(answer.controls).toEqual([
      { seq: 4, id: idOf(4), at: startAt, kind: 'control', control: { type: 'stop', text: 'STOP' } },
      {
        seq: 5,
        id: idOf(5),
        at: startAt,
        kind: 'control',
        control: { type: 'command', name: 'sprint', args: '3 "fix it"' },
      },
    ]);
  });

  it('marks a message that holds the word stop, and only that', () => {
    const bench = createBench();
    bench.say('please Stop after this');
    bench.say('the nonstop flight');
    expect(bench.poll().rows.map((row) => row.kind === 'message' && row.stopWord)).toEqual([true, undefined]);
  });

  it('costs the same number of statements with 10 and with 3,000 rows waiting', async () => {
    const bench = createBench();
    const costOfOne = () => {
      const before = bench.sql.statements();
      bench.say('one more');
      return bench.sql.statements() - before;
    };
    for (let n = 0; n < 10; n += 1) bench.say('waits');
    const early = costOfOne();
    for (let n = 0; n < 3_000; n += 1) bench.say('waits');
    await bench.rest();
    expect(costOfOne()).toBe(early);
  });
});

describe('receipts', () => {
  it('apply only with a higher attempt, or a higher rank in the same attempt; the first end stands', () => {
    const bench = createBench();
    bench.say('work');
    const report = (attempt: number, state: 'taken' | 'injected' | 'answered' | 'failed' | 'lost') => {
      bench.poll({ after: 1, receipts: [{ id: idOf(1), attempt, state, at: startAt }] });
      return bench.logic.status().projects[0]?.ladder;
    };
    expect(bench.logic.status().projects[0]?.ladder).toEqual({ stored: 1 });
    expect(report(0, 'injected')).toEqual({ injected: 1 });
    expect(report(0, 'taken')).toEqual({ injected: 1 });
    expect(report(0, 'lost')).toEqual({ lost: 1 });
    expect(report(0, 'answered')).toEqual({ lost: 1 });
    expect(report(1, 'injected')).toEqual({ injected: 1 });
    expect(report(1, 'answered')).toEqual({ answered: 1 });
    expect(report(1, 'failed')).toEqual({ answered: 1 });
  });

  it('for another storage, another project or no row change nothing', () => {
    const bench = createBench();
    bench.say('work');
    bench.poll({
      after: 1,
      receipts: ['msg_zz_0_1', 'msg_e0_1_1', 'msg_e0_0_9', 'nonsense'].map((id) => ({
        id,
        attempt: 0,
        state: 'answered' as const,
        at: startAt,
      })),
    });
    expect(bench.logic.status().projects[0]?.ladder).toEqual({ delivered: 1 });
  });
});

describe('edits', () => {
  it('are rows of their own that name the message, also the second time', () => {
    const bench = createBench();
    bench.say('frist', { ref: '7' });
    const edit = (text: string, dedupeKey: string) =>
      bench.accept({ dedupeKey, project: 0, at: startAt + 5, kind: 'edit', ref: '7', text });
    edit('first', 'e1');
    edit('first!', 'e2');
    expect(bench.poll({ after: 1 }).rows).toEqual([
      { seq: 2, id: idOf(2), at: startAt + 5, kind: 'edit', editOf: idOf(1), text: 'first' },
      { seq: 3, id: idOf(3), at: startAt + 5, kind: 'edit', editOf: idOf(1), text: 'first!' },
    ]);
  });

  it('without a change of the text add no row', () => {
    const bench = createBench();
    bench.say('same', { ref: '7' });
    bench.accept({ dedupeKey: 'e1', project: 0, at: startAt, kind: 'edit', ref: '7', text: 'same' });
    expect(seqs(bench.poll())).toEqual([1]);
  });

  it('into a bare stop are a STOP', () => {
    const bench = createBench();
    bench.say('stpo', { ref: '7' });
    bench.accept({ dedupeKey: 'e1', project: 0, at: startAt, kind: 'edit', ref: '7', text: 'stop' });
    expect(bench.poll().controls).toMatchObject([{ seq: 2, control: { type: 'stop', text: 'stop' } }]);
  });

  it('of a message that is gone are told to the phone and not dropped', async () => {
    const bench = createBench();
    bench.accept({ dedupeKey: 'e1', project: 0, at: startAt, kind: 'edit', ref: '7', text: 'new' });
    await bench.wake();
    expect(bench.platform.calls).toMatchObject([
      { kind: 'send', text: 'The edited message is no longer in the mailbox. Send the new text as a message.' },
    ]);
  });
});
