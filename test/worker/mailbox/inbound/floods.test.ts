// What an allowed user can pile up by tapping and typing must not delay what the coding agent asks, nor fill the storage.

import { describe, expect, it } from 'vitest';
import { relayLimits } from '../../../../protocol/limits.ts';
import { type Bench, createBench, mailbox, startAt, textsOf } from '../../bench.ts';

let presses = 0;
function press(bench: Bench, buttonId: string, userId = mailbox): string {
  presses += 1;
  return bench.accept({
    dedupeKey: `press-${presses}`,
    project: 0,
    at: bench.clock.now,
    kind: 'button',
    buttonId,
    ref: '900',
    queryRef: `query-${presses}`,
    userId,
  });
}

const rows = (bench: Bench) => Number(bench.sql.exec<{ n: number }>('SELECT count(*) AS n FROM outbox')[0]?.n);
const waitingControls = (bench: Bench) => bench.poll({ after: 0 }).controls.length;
const askedYes = { key: 'approval-1', class: 'approval' as const, buttons: [[{ label: 'Yes', action: 'approve:7' }]] };

/** When each text was sent, milliseconds after the start; every call takes as long as a slow Bot API. */
function timedCalls(bench: Bench, callMs: number): Map<string, number> {
  const sentAt = new Map<string, number>();
  bench.platform.script.push(
    ...Array.from({ length: 4_000 }, () => () => {
      bench.clock.now += callMs;
      const call = bench.platform.calls.at(-1);
      if (call && 'text' in call && call.kind === 'send') sentAt.set(call.text, bench.clock.now - startAt);
      return { kind: 'sent' as const, ref: '1' };
    }),
  );
  return sentAt;
}

describe('a flood of taps', () => {
  it('on unknown buttons lets a pong and an approval question pass', async () => {
    const bench = createBench();
    const sentAt = timedCalls(bench, 200);
    for (let n = 0; n < 3_000; n += 1) press(bench, `gone-${n}`);
    bench.say('/ping');
    bench.post(askedYes);
    await bench.runUntil(startAt + 120_000);
    expect(sentAt.get('pong')).toBeLessThanOrEqual(1_000);
    expect(sentAt.get('approval-1')).toBeLessThanOrEqual(1_000);
  });

  it('that goes on while the relay sends never comes before what people read', async () => {
    const bench = createBench();
    for (let n = 0; n < 5; n += 1) bench.post({ key: `answer-${n}` });
    bench.platform.script.push(
      ...Array.from({ length: 60 }, (_, n) => () => {
        press(bench, `gone-${n}`);
        bench.clock.now += 500;
        return { kind: 'sent' as const };
      }),
    );
    await bench.runUntil(startAt + 20_000);
    expect(textsOf(bench.platform.calls.slice(0, 3))).toEqual(['answer-0', 'answer-1', 'answer-2']);
    expect(textsOf(bench.platform.calls.filter(({ kind }) => kind === 'send'))).toHaveLength(5);
  });

  it('leaves no more waiting answers than a few, the newest of each button, and no row once they are sent', async () => {
    const bench = createBench();
    for (let n = 0; n < 3_000; n += 1) press(bench, `gone-${n % 5}`);
    expect(rows(bench)).toBe(5);
    for (let n = 0; n < 3_000; n += 1) press(bench, `gone-${n}`);
    expect(rows(bench)).toBeLessThanOrEqual(20);
    const newest = `query-${presses}`;
    await bench.runUntil(startAt + 60_000);
    expect(bench.platform.calls.at(-1)).toMatchObject({ kind: 'acknowledge', queryRef: newest });
    expect(rows(bench)).toBe(0);
  });

  it('on one open question is one waiting control for each user', () => {
    const bench = createBench();
    bench.post(askedYes);
    for (let n = 0; n < 500; n += 1) press(bench, 'id-1');
    press(bench, 'id-1', '7');
    expect(waitingControls(bench)).toBe(2);
    // Once the daemon has it, a tap counts again.
    bench.poll({ after: 2 });
    press(bench, 'id-1');
    expect(bench.poll({ after: 2 }).controls).toHaveLength(1);
  });

  it('is told that the mailbox is full, where a text would be refused', () => {
    const bench = createBench();
    const room = relayLimits.mailboxMessages + 1_000;
    bench.post({ ...askedYes, key: 'approval-2' });
    for (let n = 0; n < room; n += 1) bench.say(n < relayLimits.mailboxMessages ? 'waits' : '/stop');
    expect(bench.say('/stop')).toBe('full');
    expect(press(bench, 'id-1')).toBe('stored');
    expect(bench.sql.exec<{ n: number }>("SELECT count(*) AS n FROM log WHERE kind = 'control'")[0]?.n).toBe(1_000);
    const call = bench.sql.exec<{ call: string }>('SELECT call FROM outbox WHERE class > 3')[0]?.call ?? '';
    expect(JSON.parse(call)).toMatchObject({ kind: 'acknowledge', text: 'Not recorded: the mailbox is full.' });
  });
});

describe('a flood of commands', () => {
  it('gets one answer for those that wait, and an approval question goes out soon', async () => {
    const bench = createBench();
    const sentAt = timedCalls(bench, 50);
    for (let n = 0; n < 3_000; n += 1) bench.say(n % 2 === 0 ? '/ping' : '/status');
    bench.post(askedYes);
    await bench.runUntil(startAt + 120_000);
    expect(sentAt.get('approval-1')).toBeLessThanOrEqual(5_000);
    expect(bench.platform.calls.filter((call) => 'text' in call && call.text === 'pong')).toHaveLength(1);
  });

  it('answers what came after an answer was sent', async () => {
    const bench = createBench();
    bench.say('/ping');
    await bench.wake();
    bench.say('/ping');
    bench.say('/letters retry a');
    bench.say('/letters retry b');
    await bench.runUntil(startAt + 10_000);
    expect(textsOf(bench.platform.calls)).toEqual([
      'pong',
      'pong',
      ...Array(2).fill('This message is no longer in the mailbox.'),
    ]);
  });
});
