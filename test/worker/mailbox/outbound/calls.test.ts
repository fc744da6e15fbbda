import { describe, expect, it } from 'vitest';
import { createBench, mailbox, scriptedPlatform, startAt } from '../../bench.ts';

const part = (text: string) => ({ text, entities: [] });

describe('a platform without edits, buttons and topics', () => {
  const plainPlatform = () => scriptedPlatform({ edit: false, buttons: false, topics: false });

  it('gets no buttons and no topic, and only the first rev of a progress message', async () => {
    const bench = createBench({ platform: plainPlatform() });
    bench.logic.post({
      mailbox,
      project: 12,
      items: [
        {
          key: 'approval-1',
          class: 'approval',
          parts: [part('Run it?')],
          buttons: [[{ label: 'Yes', action: 'approve' }]],
        },
        { key: 'progress-1', class: 'progress', slot: 'turn', rev: 1, parts: [part('working')] },
      ],
    });
    await bench.wake();
    bench.post({ key: 'progress-2', class: 'progress', slot: 'turn', rev: 1, parts: [part('elsewhere')] });
    bench.logic.post({
      mailbox,
      project: 12,
      items: [{ key: 'progress-3', class: 'progress', slot: 'turn', rev: 2, parts: [part('still working')] }],
    });
    await bench.runUntil(startAt + 10_000);
    expect(bench.platform.calls).toEqual([
      { kind: 'send', chatId: mailbox, topic: 0, text: 'Run it?', entities: [], buttons: [] },
      { kind: 'send', chatId: mailbox, topic: 0, text: 'working', entities: [], buttons: [] },
      { kind: 'send', chatId: mailbox, topic: 0, text: 'elsewhere', entities: [], buttons: [] },
    ]);
    const again = {
      mailbox,
      project: 12,
      items: [{ key: 'progress-3', class: 'progress' as const, parts: [part('x')] }],
    };
    expect(bench.logic.post(again).items).toEqual([{ key: 'progress-3', state: 'sent' }]);
  });

  it('gets a question that a reply answers, with or without the field for it', async () => {
    const asked = async (replyField: boolean) => {
      const bench = createBench({ platform: scriptedPlatform({ replyField }) });
      bench.post({ key: 'question-1', class: 'reply', parts: [part('Which?')], replyAction: 'edit', replyHint: 'It' });
      await bench.wake();
      return bench.platform.calls;
    };
    const call = { kind: 'send', chatId: mailbox, topic: 0, text: 'Which?', entities: [], buttons: [] };
    expect(await asked(false)).toEqual([call]);
    expect(await asked(true)).toEqual([{ ...call, replyField: { hint: 'It' } }]);
  });

  it('gets a changed answer as a new message', async () => {
    const bench = createBench({ platform: plainPlatform() });
    for (const rev of [1, 2]) {
      bench.post({ key: `verdict-${rev}`, class: 'approval', slot: 'ask', rev, parts: [part(`verdict ${rev}`)] });
      await bench.wake();
    }
    expect(bench.platform.calls.map((call) => call.kind === 'send' && [call.kind, call.text])).toEqual([
      ['send', 'verdict 1'],
      ['send', 'verdict 2'],
    ]);
  });
});
