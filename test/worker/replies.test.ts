// Answers of the phone to a question of the daemon: a control, once, and never a message for the coding agent.

import { describe, expect, it } from 'vitest';
import { type Bench, createBench, mailbox } from './bench.ts';

const key = 'question-0001';

/** The phone shows the question; gives its reference there. */
async function asked(bench: Bench): Promise<string> {
  bench.post({ key, class: 'reply', parts: [{ text: 'Which command?', entities: [] }], replyAction: 'edit:7' });
  await bench.wake();
  expect(bench.platform.calls).toHaveLength(1);
  return '101';
}

const rows = (bench: Bench) => bench.poll({ after: 0, epoch: 'e0' }).rows;
const answer = (bench: Bench, text: string, answersRef: string) =>
  bench.say(text, { answersRef, userId: mailbox, quote: 'Which command?' });

describe('an answer to a question', () => {
  it('is a control with the words, the action and who said it, and a second one is a message', async () => {
    const bench = createBench();
    const ref = await asked(bench);
    answer(bench, 'npm ci', ref);
    answer(bench, 'thanks', ref);
    expect(rows(bench)).toMatchObject([
      { kind: 'control', control: { type: 'reply', action: 'edit:7', key, userId: mailbox, text: 'npm ci' } },
      { kind: 'message', text: 'thanks', quote: 'Which command?' },
    ]);
  });

  it('is known after a restart of the mailbox', async () => {
    const bench = createBench();
    const ref = await asked(bench);
    bench.restart();
    answer(bench, '/usr/bin/make', ref);
    expect(rows(bench)).toMatchObject([{ control: { type: 'reply', text: '/usr/bin/make' } }]);
  });

  it('that is STOP is a STOP, and the question still waits for its answer', async () => {
    const bench = createBench();
    const ref = await asked(bench);
    answer(bench, 'stop', ref);
    answer(bench, 'npm ci', ref);
    expect(rows(bench)).toMatchObject([
      { control: { type: 'stop', text: 'stop' } },
      { control: { type: 'reply', text: 'npm ci' } },
    ]);
  });

  it('in another topic, or to another message, is a message', async () => {
    const bench = createBench();
    const ref = await asked(bench);
    answer(bench, 'npm ci', '999');
    bench.say('npm ci', { answersRef: ref, userId: mailbox, project: 5 });
    expect(rows(bench)).toMatchObject([{ kind: 'message', text: 'npm ci' }]);
  });

  it('cannot be made by a press', async () => {
    const bench = createBench();
    const ref = await asked(bench);
    bench.accept({
      dedupeKey: 'press',
      project: 0,
      at: bench.clock.now,
      kind: 'button',
      buttonId: `reply:${ref}`,
      queryRef: 'q',
      userId: mailbox,
    });
    expect(rows(bench)).toEqual([]);
  });
});
