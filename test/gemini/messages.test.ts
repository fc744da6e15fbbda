// The main job: what the owner types on the phone stands in the model request, and the answer stands on the phone.

import { describe, expect } from 'vitest';
import type { ModelServer } from '../helpers/models/gemini.ts';
import type { Product } from '../hosts/product.ts';
import { handedOver, holdModel, hookContext, promptOf } from './hand-over.ts';
import { runHeadless } from './harness.ts';
import { test, type } from './stage.ts';

const question = 'Which tests fail?\nAnswer in zwei Sätzen 🙏 & keep "quotes".';
const code = 'expect(login("<none>")).toBe(false)\nexpect(ü).toBe(1)';
/** Streamed in pieces that end inside words: the host's own event joins them with spaces. */
const streamed = ['Two te', 'sts fail in `auth.te', 'st.ts`:\n\n```t', `s\n${code}\n`, '```\n\nShall I fi', 'x them?'];
const shown = {
  text: `Two tests fail in auth.test.ts:\n\n${code}\n\nShall I fix them?`,
  entities: [
    { type: 'code', offset: 18, length: 12 },
    { type: 'pre', offset: 33, length: code.length, language: 'ts' },
  ],
};

interface RoundTrip {
  model: ModelServer;
  product: Product;
  /** Telegram's id of the question. */
  messageId: number;
  /** Lets the model answer. */
  answer: () => void;
}

async function expectRoundTrip({ model, product, messageId, answer }: RoundTrip): Promise<void> {
  const request = await model.waitForRequest('Which tests fail?');
  const [entry] = await product.inbox();
  expect(entry).toMatchObject({ from: 'user', text: question, read: true });
  expect(promptOf(request)).toBe('go on');
  expect(hookContext(request)).toEqual([
    expect.stringMatching(/^A message from the owner's phone, relayed by wa-sync: the user's own words/),
  ]);
  expect(handedOver(request)).toEqual([
    { id: entry?.id, marks: `from the owner's phone · sent ${entry?.timestamp}`, text: question },
  ]);

  await product.waitForLadder({ injected: 1 });
  answer();
  const [message, ...more] = await product.waitForAnswers(1);
  expect(message).toMatchObject({ ...shown, replyTo: messageId, buttons: [] });
  expect(more).toEqual([]);
  await product.waitForLadder({ answered: 1 });
  expect((await product.waitForSent()).map(({ from, sent }) => ({ from, sent }))).toEqual([
    { from: 'agent', sent: true },
  ]);
}

describe('a text from the phone', () => {
  test('stands in the next headless model request, and its answer on the phone as the model wrote it', async ({
    model,
    home,
    product,
  }) => {
    const answer = holdModel(model, { text: streamed });
    const messageId = await product.say(question);
    const run = runHeadless(home, { prompt: 'go on' });
    await expectRoundTrip({ model, product, messageId, answer });
    expect(await run).toMatchObject({ code: 0, stdout: `${streamed.join('')}\n` });
  });

  test('stands in the next model request of a terminal, and its answer on the phone as the model wrote it', async ({
    model,
    product,
    open,
  }) => {
    const answer = holdModel(model, { text: streamed });
    const tui = await open();
    const messageId = await product.say(question);
    await type(tui, 'go on');
    await expectRoundTrip({ model, product, messageId, answer });
    await tui.waitForScreen('Shall I fix them?');
  });

  test('is given once, and a turn without one still reports', async ({ model, home, product }) => {
    await product.say('Only once [[say: Read it.]]');
    await runHeadless(home, { prompt: 'first' });
    await product.waitForLadder({ answered: 1 });
    await runHeadless(home, { prompt: 'second [[say: Nothing new.]]' });
    expect(hookContext(await model.waitForRequest('second'))).toEqual([]);
    const messages = await product.waitForAnswers(2);
    expect(messages.map(({ text }) => text)).toEqual(['Read it.', 'Nothing new.']);
    await product.waitForLadder({ answered: 1 });
  });

  test('comes with the others that wait, in order, and each gets its receipt', async ({ model, home, product }) => {
    await product.say('First of three.');
    await product.say('Second of three.');
    await product.say('Third of three. [[say: All three are done.]]');
    await runHeadless(home, { prompt: 'go on' });
    const ids = (await product.inbox()).map(({ id }) => id);
    expect(handedOver(await model.waitForRequest('First of three.')).map(({ id, text }) => [id, text])).toEqual([
      [ids[0], 'First of three.'],
      [ids[1], 'Second of three.'],
      [ids[2], 'Third of three. [[say: All three are done.]]'],
    ]);
    const messages = await product.waitForAnswers(1);
    expect(messages.map((message) => message.text)).toEqual(['All three are done.']);
    await product.waitForLadder({ answered: 3 });
  });
});
