// What the phone hears of the desk: questions that wait there, a compression, and a terminal that nothing wakes.

import { expect } from 'vitest';
import type { ModelRule } from '../helpers/models/gemini.ts';
import { until } from '../hosts/processes.ts';
import { runHeadless } from './harness.ts';
import { recordHooks } from './hook-recorder.ts';
import { test, testWith, type } from './stage.ts';

/** Who has pressed no key for a second has left: the phone hears at once of what waits there. */
const testWhenLeft = testWith({ presence: { awayAfter: 1 } });

testWhenLeft(
  'a question of the agent at the desk is shown on the phone with its options, once',
  async ({ model, product, open }) => {
    const options = [
      { label: 'Keep it', description: 'nothing changes' },
      { label: 'Drop it', description: 'the column goes' },
    ];
    const questions = [{ question: 'Keep the old column?', header: 'Column', type: 'choice', options }];
    model.rule(({ method, toolResults, userTexts }) =>
      method === 'streamGenerateContent' && toolResults === 0 && userTexts.join('').includes('ask me')
        ? { toolCall: { name: 'ask_user', args: { questions } } }
        : undefined,
    );
    const tui = await open();
    await type(tui, 'ask me [[say: Kept.]]');
    await tui.waitForScreen('Keep the old column?');
    expect((await product.waitForAnswers(1)).map(({ text }) => text)).toEqual([
      'The agent asks in the terminal:\nKeep the old column?\n- Keep it\n- Drop it\nOnly the terminal can answer it.',
    ]);
    await tui.key('1');
    await tui.waitForScreen('✦ Kept.');
    expect((await product.waitForAnswers(2)).at(-1)?.text).toBe('Kept.');
  },
);

test('/compress at the desk is one line on the phone, and the compression before each request is none', async ({
  home,
  product,
  open,
}) => {
  const hooks = await recordHooks(home, ['PreCompress']);
  const tui = await open();
  await type(tui, 'first turn [[say: At your service.]]');
  await product.waitForAnswers(1);
  await type(tui, '/compress');
  const texts = (await product.waitForAnswers(2)).map(({ text }) => text);
  expect(texts).toEqual(['At your service.', 'The agent compresses its context.']);
  expect((await hooks.payloads()).map(({ trigger }) => trigger)).toEqual(['auto', 'manual']);
});

/** The second turn is said to fill most of the context window, so the CLI compresses before the third. */
const fillsContext: ModelRule = ({ method, userTexts, toolResults, body }) => {
  const isAsked = (text: string) => JSON.stringify(body.contents).includes(text);
  if (method === 'generateContent' && isAsked('state_snapshot>'))
    return { text: '<state_snapshot>all</state_snapshot>' };
  const isSecond = method === 'streamGenerateContent' && userTexts.join().includes('second turn') && toolResults === 0;
  return isSecond
    ? { toolCall: { name: 'run_shell_command', args: { command: 'true' } }, promptTokens: 700_000 }
    : undefined;
};
const compressed = 'The agent has compressed its context by itself: of what came before it keeps a summary.';

test('a compression that the CLI makes by itself is one line on the phone, in a terminal and headless, and none after it', async ({
  home,
  model,
  product,
  open,
}) => {
  model.rule(fillsContext);
  const yolo = ['--approval-mode', 'yolo'];
  await runHeadless(home, { prompt: 'first turn [[say: One.]]', args: yolo });
  await runHeadless(home, { prompt: 'second turn [[say: Two.]]', args: [...yolo, '--resume', 'latest'] });
  const stopThinking = model.rule((request) =>
    request.userTexts.join().includes('third turn') ? new Promise(() => {}) : undefined,
  );
  // Not typed: while a session is taken up again the CLI now and then loses what is.
  const resumed = await open({ args: [...yolo, '--resume', 'latest', '-i', 'third turn'] });
  await model.waitForRequest('third turn');
  // The CLI writes its whole history again, summary included.
  await resumed.key('Escape');
  await resumed.waitForScreen('Request cancelled.');
  stopThinking();
  await type(resumed, 'fourth turn [[say: Four.]]');
  expect((await product.waitForAnswers(4)).map(({ text }) => text)).toEqual(['One.', compressed, 'Two.', 'Four.']);
  expect(JSON.stringify(await home.sessionLines()).split('<state_snapshot>').length).toBeGreaterThan(3);

  await type(resumed, '/clear');
  await type(resumed, 'once more [[say: Once more.]]');
  await product.waitForAnswers(5);
  await type(resumed, 'a second turn [[say: Again.]]');
  const texts = (await product.waitForAnswers(7)).map(({ text }) => text);
  expect(texts.slice(5)).toEqual([compressed, 'Again.']);
});

test('a text that comes to an idle terminal is told once, with how it will be picked up, until the next turn', async ({
  product,
  open,
}) => {
  const told = () => product.sim.messages().filter(({ from, text }) => from === 'bot' && /^It waits/.test(text));
  const tui = await open();
  await type(tui, 'first turn [[say: For the desk.]]');
  await tui.waitForScreen('✦ For the desk.');
  // The turn has ended: at its end the text would be its next prompt.
  await product.waitForAnswers(1);
  const id = await product.say('Nobody hears me');
  await until(() => told().length > 0, 30_000);
  await product.say('Nor me [[say: I hear you both.]]');
  await type(tui, 'I am back');
  await product.waitForLadder({ answered: 2 });
  expect(told()).toEqual([
    expect.objectContaining({
      replyTo: id,
      text: 'It waits for a prompt at the terminal, which is idle and cannot be woken from here: type anything there, and before you leave wa:away, so that the agent listens. ("nudge" is "off" in config.json.)',
    }),
  ]);
});
