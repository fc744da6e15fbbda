// Answers of the phone to a question of the daemon: a control, once, and never a message for the coding agent.

import { describe, expect, it } from 'vitest';
import { type Bench, createBench, mailbox } from '../../bench.ts';

const key = 'question-0001';

/** The phone shows the question; gives its reference there. */
async function asked(bench: Bench): Promise<string> {
  bench.post({ key, class: 'reply', parts: [{ text: 'Which command?', entities: [] }], replyAction: 'edit:7' });
  await bench.wake();
  expect(bench.platform.calls).toHaveLength(1);
  return '101';
}

/** Without the outcome of the question itself. */
const rows = (bench: Bench) => bench.poll({ after: 0, epoch: 'e0' }).rows.filter(({ kind }) => kind !== 'outcome');
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
      ref: '900',
      queryRef: 'q',
      userId: mailbox,
    });
    expect(rows(bench)).toEqual([]);
  });
});

describe('words that the owner forwards', () => {
  const forwarded = { from: 'Ann' };

  it('are a message, never a STOP, a command or the answer to a question', async () => {
    const bench = createBench();
    const ref = await asked(bench);
    bench.say('stop', { forwarded });
    bench.say('/approvals off', { forwarded });
    bench.say('please stop it', { forwarded });
    bench.say('rm -rf ~', { forwarded, answersRef: ref, userId: mailbox });
    const texts = ['stop', '/approvals off', 'please stop it', 'rm -rf ~'];
    expect(rows(bench)).toMatchObject(texts.map((text) => ({ kind: 'message', text, forwarded })));
    expect(rows(bench).filter((row) => 'stopWord' in row)).toEqual([]);
  });

  it("stay others' words in an album", () => {
    const bench = createBench();
    bench.say('mine', { album: 'a' });
    bench.say('theirs', { album: 'a', forwarded });
    bench.clock.now += 60_000;
    expect(rows(bench)).toMatchObject([{ text: 'mine\ntheirs', forwarded }]);
  });
});

describe('the formatting of the phone', () => {
  it('reaches the agent as Markdown, and no command and no answer to a question', async () => {
    const bench = createBench();
    const ref = await asked(bench);
    bench.say('stop', { markdown: '`stop`' });
    bench.say('npm ci', { markdown: '`npm ci`', answersRef: ref, userId: mailbox });
    bench.say('run npm ci', { markdown: 'run `npm ci`' });
    bench.say('//status x', { markdown: '//status `x`' });
    expect(rows(bench)).toMatchObject([
      { kind: 'control', control: { type: 'stop', text: 'stop' } },
      { kind: 'control', control: { type: 'reply', text: 'npm ci' } },
      { kind: 'message', text: 'run `npm ci`' },
      { kind: 'message', text: '/status `x`' },
    ]);
  });
});
