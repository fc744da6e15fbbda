import { describe, expect, it } from 'vitest';
import { createBench, mailbox, startAt } from '../../bench.ts';

describe('a button', () => {
  const ask = { key: 'approval-1', class: 'approval' as const, buttons: [[{ label: 'Yes', action: 'approve:7' }]] };
  const press = (buttonId: string) => ({
    dedupeKey: `press-${buttonId}`,
    project: 0,
    at: startAt,
    kind: 'button' as const,
    buttonId,
    queryRef: 'query-1',
    userId: mailbox,
  });

  it('has an opaque id, and its press is a control with the action, the key and the user', async () => {
    const bench = createBench();
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
