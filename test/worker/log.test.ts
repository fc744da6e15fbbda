import { describe, expect, it } from 'vitest';
import { messageId } from '../../protocol/ids.ts';
import { relayLimits } from '../../protocol/limits.ts';
import type { Bench } from './bench.ts';
import { createBench, daemon, epoch, startAt, textsOf } from './bench.ts';

const hourMs = 3_600_000;
const idOf = (seq: number) => messageId(epoch, 0, seq);
const seqs = (answer: { rows: { seq: number }[] }) => answer.rows.map((row) => row.seq);

/** Takes everything and says so. */
function drain(bench: Bench): void {
  bench.poll({ after: bench.poll({ after: null }).rows.at(-1)?.seq ?? 0 });
}

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
    });
  });

  it('drops an update that comes twice', () => {
    const bench = createBench();
    bench.say('once', { dedupeKey: 'u' });
    expect(bench.say('once', { dedupeKey: 'u' })).toBe('duplicate');
    expect(seqs(bench.poll())).toEqual([1]);
  });

  it('keeps an update whose id is lower than the last one', () => {
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

  it('sends spent controls again only for ten minutes after a lost state', () => {
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

  it('takes a receipt for a control and does not send that one again', () => {
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

  it('hands controls out beside the window, however long the backlog', () => {
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

  it('costs the same number of statements with 10 and with 3,000 rows waiting', () => {
    const bench = createBench();
    const costOfOne = () => {
      const before = bench.sql.statements();
      bench.say('one more');
      return bench.sql.statements() - before;
    };
    for (let n = 0; n < 10; n += 1) bench.say('waits');
    const early = costOfOne();
    for (let n = 0; n < 3_000; n += 1) bench.say('waits');
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

  it('without a change of the text are none', () => {
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

  it('of a message that is gone are told to the phone instead of dropped', async () => {
    const bench = createBench();
    bench.accept({ dedupeKey: 'e1', project: 0, at: startAt, kind: 'edit', ref: '7', text: 'new' });
    await bench.wake();
    expect(bench.platform.calls).toMatchObject([
      { kind: 'send', text: 'The edited message is no longer in the mailbox. Send the new text as a message.' },
    ]);
  });
});

describe('an album', () => {
  it('takes its seq at the first part and holds back what follows, except controls, until it closes', async () => {
    const bench = createBench();
    bench.say('before');
    bench.say('part one', { album: 'a' });
    bench.say('after');
    bench.say('stop');
    bench.clock.now += 400;
    bench.say('part two', { album: 'a' });
    expect(bench.poll()).toMatchObject({ rows: [{ seq: 1 }], controls: [{ seq: 4 }] });

    await bench.runUntil(bench.clock.now + relayLimits.albumGatherMs);
    expect(bench.poll({ after: 1 }).rows).toMatchObject([
      { seq: 2, text: 'part one\npart two' },
      { seq: 3, text: 'after' },
      { seq: 4, kind: 'control' },
    ]);
  });

  it('ends a parked poll when it closes', async () => {
    const bench = createBench();
    const socket = bench.open();
    bench.say('part', { album: 'a' });
    expect(socket.frame()?.head).toBe('parked');
    await bench.runUntil(startAt + relayLimits.albumGatherMs);
    expect(socket.frame()).toMatchObject({ head: '200', body: { rows: [{ seq: 1, text: 'part' }] } });
  });

  it('gives a control that it overtakes once, and then parks the poll', () => {
    const bench = createBench();
    bench.say('part', { album: 'a' });
    bench.say('stop');
    expect(bench.open().frame()).toMatchObject({ head: '200', body: { rows: [], controls: [{ seq: 2 }] } });
    expect(bench.open().frame()?.head).toBe('parked');
  });

  it('leaves a part that comes too late as a message of its own', async () => {
    const bench = createBench();
    bench.say('one', { album: 'a' });
    await bench.runUntil(startAt + relayLimits.albumGatherMs);
    bench.say('late', { album: 'a' });
    expect(bench.poll().rows).toMatchObject([
      { seq: 1, text: 'one' },
      { seq: 2, text: 'late' },
    ]);
  });
});

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
      bench.sql.exec<{ n: number }>('SELECT (SELECT count(*) FROM seen_a) + (SELECT count(*) FROM seen_b) AS n')[0]?.n;
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

describe('the poll', () => {
  it('is parked without news, and ended by the next message', () => {
    const bench = createBench();
    const socket = bench.open();
    expect(socket.frame()).toEqual({
      head: 'parked',
      body: { epoch, now: startAt, rows: [], controls: [], cursor: 0 },
    });
    bench.say('hello');
    expect(socket.frame()).toMatchObject({ head: '200', body: { rows: [{ seq: 1, text: 'hello' }] } });
  });

  it('is answered from the parked socket after the object was evicted', () => {
    const bench = createBench();
    const socket = bench.open();
    bench.restart();
    bench.say('hello');
    expect(socket.frame()).toMatchObject({ head: '200', body: { rows: [{ seq: 1 }] } });
  });

  it('of the same daemon ends its older one with an empty answer', () => {
    const bench = createBench();
    const older = bench.open();
    const newer = bench.open();
    expect(older.frame()).toMatchObject({ head: '200', body: { rows: [], controls: [], cursor: 0 } });
    expect(newer.frame()?.head).toBe('parked');
  });

  it('of a later start takes over at once, and the older start is superseded for good', () => {
    const bench = createBench();
    const older = bench.open();
    const later = { ...daemon, startedAt: startAt + 1 };
    expect(bench.open({ daemon: later }).frame()?.head).toBe('parked');
    expect(older.frame()).toMatchObject({ head: '409', body: { error: { code: 'superseded' } } });
    expect(bench.poll().error?.code).toBe('superseded');
  });

  it('of another workstation waits until the holder was silent for the takeover time', () => {
    const bench = createBench();
    const other = { id: 'daemon-two', startedAt: startAt };
    const socket = bench.open();
    bench.clock.now += 20_000;
    expect(bench.poll({ daemon: other }).error).toMatchObject({
      code: 'held_by_other_daemon',
      retryAfterMs: relayLimits.takeoverAfterMs,
    });
    // The socket goes: the silence begins.
    socket.finish('200\n{}');
    bench.logic.pollGone(0);
    bench.clock.now += relayLimits.takeoverAfterMs - 1;
    expect(bench.poll({ daemon: other }).error).toMatchObject({ code: 'held_by_other_daemon', retryAfterMs: 1 });
    bench.clock.now += 1;
    expect(bench.poll({ daemon: other }).error).toBeUndefined();
    expect(bench.poll().error?.code).toBe('held_by_other_daemon');
  });

  it('reckons with a parked socket that it has forgotten in hibernation', () => {
    const bench = createBench();
    bench.open({ holdMs: 25_000 }).finish('200\n{}');
    bench.restart();
    bench.clock.now += 25_000 + relayLimits.takeoverAfterMs - 1;
    expect(bench.poll({ daemon: { id: 'daemon-two', startedAt: startAt } }).error?.code).toBe('held_by_other_daemon');
  });
});
