import { describe, expect, it } from 'vitest';
import { createBench, mailbox, startAt, textsOf } from '../../bench.ts';

describe('a button', () => {
  const ask = { key: 'approval-1', class: 'approval' as const, buttons: [[{ label: 'Yes', action: 'approve:7' }]] };
  const press = (buttonId: string) => ({
    dedupeKey: `press-${buttonId}`,
    project: 0,
    at: startAt,
    kind: 'button' as const,
    buttonId,
    ref: '900',
    queryRef: 'query-1',
    userId: mailbox,
  });

  it('has an opaque id, and its press is a control with the action, the key and the user', async () => {
    const bench = createBench();
    bench.poll();
    bench.post(ask);
    bench.accept(press('id-1'));
    expect(bench.poll().controls).toMatchObject([
      { seq: 1, control: { type: 'button', action: 'approve:7', key: 'approval-1', userId: mailbox } },
    ]);
    await bench.wake();
    // However many taps there are, what people read goes first.
    expect(bench.platform.calls).toMatchObject([
      { kind: 'send', text: 'approval-1' },
      { kind: 'acknowledge', queryRef: 'query-1', text: 'Recorded.' },
    ]);
  });

  it('says with its own words what happens, and is gone with the tap when that is all it can do', async () => {
    const bench = createBench();
    bench.poll();
    bench.post({ ...ask, buttons: [[{ label: 'Full', action: 'full:7', toast: 'On its way.', once: true }]] });
    await bench.wake();
    bench.accept(press('id-1'));
    bench.accept({ ...press('id-1'), dedupeKey: 'again' });
    expect(bench.poll().controls).toHaveLength(1);
    await bench.runUntil(startAt + 5_000);
    expect(bench.platform.calls.slice(1)).toEqual([
      { kind: 'buttons', chatId: mailbox, ref: '900', buttons: [] },
      { kind: 'acknowledge', queryRef: 'query-1', text: 'On its way.' },
    ]);
  });

  it('says that the workstation is away', async () => {
    const bench = createBench();
    bench.post(ask);
    bench.accept(press('id-1'));
    await bench.wake();
    expect(textsOf(bench.platform.calls)).toEqual([
      'approval-1',
      'Recorded. The workstation is away; it acts when it is back.',
    ]);
  });

  it('of a command does what the command does when it is written, and of a text gives the agent the text', async () => {
    const bench = createBench();
    bench.say('/stpo now', { ref: '77' });
    bench.say('/nosuch', { ref: '78' });
    expect(bench.poll().rows).toMatchObject([
      { seq: 1, text: '/stpo now', workflow: true },
      { seq: 2, text: '/nosuch', workflow: true },
    ]);
    const refused = [1, 2].map((seq) => ({
      id: `msg_e0_0_${seq}`,
      attempt: 0,
      state: 'refused' as const,
      at: startAt,
    }));
    bench.poll({ after: 2, receipts: refused });
    expect(bench.logic.deadLetters(0).deadLetters).toHaveLength(2);
    bench.post({
      key: 'named_1',
      buttons: [
        [{ label: '/stop', action: 'relay:say:msg_e0_0_1:/stop now', once: true }],
        [{ label: 'Send as text', action: 'relay:text:msg_e0_0_2', once: true }],
      ],
    });
    bench.accept(press('id-1'));
    bench.accept(press('id-2'));
    bench.accept({ ...press('id-2'), dedupeKey: 'again' });
    const { rows } = bench.poll({ after: 2 });
    expect(rows).toEqual([
      expect.objectContaining({ seq: 3, control: { type: 'stop', text: '/stop now' } }),
      // Without the mark, as text.
      expect.objectContaining({ seq: 4, text: '/nosuch', retryOf: 'msg_e0_0_2' }),
    ]);
    expect(rows[1]).not.toHaveProperty('workflow');
    expect(bench.logic.deadLetters(0).deadLetters).toEqual([]);
    await bench.runUntil(startAt + 10_000);
    expect(textsOf(bench.platform.calls)).toEqual([
      'named_1',
      '/stop now',
      'Sent to the agent as text.',
      'This was done before.',
    ]);
  });

  it('that this mailbox did not issue changes nothing and is told so', async () => {
    const bench = createBench();
    bench.accept(press('id-1'));
    await bench.wake();
    expect(bench.poll().controls).toEqual([]);
    expect(bench.platform.calls).toEqual([
      { kind: 'acknowledge', queryRef: 'query-1', text: 'This button has expired.' },
    ]);
  });

  it('whose answer comes too late leaves no dead letter', async () => {
    const bench = createBench();
    bench.platform.script.push({ kind: 'dead', code: 'expired', reason: 'query is too old' });
    bench.accept(press('id-1'));
    await bench.wake();
    expect(bench.logic.metrics()).toMatchObject({ deadLetters: 0, outboxWaiting: 0 });
  });
});
