// Turns that end without an answer: the phone gets the reason and 'failed', never the host's placeholder.

import { expect } from 'vitest';
import { signal } from '../hosts/processes.ts';
import type { Product } from '../hosts/product.ts';
import type { Tui } from '../hosts/tui.ts';
import { handedOver, holdModel } from './hand-over.ts';
import { runHeadless } from './harness.ts';
import { type Stage, test, type } from './stage.ts';

const withoutAnswer = 'Failed: The turn ended without an answer.';
const killed = 'Failed: The coding agent ended (closed, killed or crashed) before its turn had an answer.';

async function texts(product: Product, count: number): Promise<string[]> {
  return (await product.waitForAnswers(count)).map(({ text }) => text);
}

/** A terminal in whose turn the model has the owner's text and does not answer. */
async function openThinking({ model, product, open }: Pick<Stage, 'model' | 'product' | 'open'>): Promise<Tui> {
  holdModel(model);
  const tui = await open();
  await product.say('Think about it.');
  await type(tui, 'go on');
  await model.waitForRequest('Think about it.');
  await product.waitForLadder({ injected: 1 });
  return tui;
}

test('an API error in a terminal reaches the phone as an error, and the next turn works', async ({
  model,
  product,
  open,
}) => {
  const tui = await open();
  const messageId = await product.say('Break it [[error: 400]]');
  await type(tui, 'go on');
  const [message] = await product.waitForAnswers(1);
  expect(message?.text).toMatch(/^Failed: .*Scripted error 400/s);
  expect(message?.replyTo).toBe(messageId);
  await product.waitForLadder({ failed: 1 });

  await product.say('Once more [[say: It works again.]]');
  await type(tui, 'try again');
  expect((await texts(product, 2)).slice(1)).toEqual(['It works again.']);
  expect(handedOver(await model.waitForRequest('try again'))).toMatchObject([{ text: expect.stringMatching(/^Once/) }]);
  await product.waitForLadder({ failed: 1, answered: 1 });
  expect(JSON.stringify(product.sim.calls)).not.toContain('no response text');
});

test('an API error of a headless run, which fires no event for it, reaches the phone as a turn without an answer', async ({
  home,
  product,
}) => {
  await product.say('Break it [[error: 400]]');
  const result = await runHeadless(home, { prompt: 'go on' });
  expect(result.code).not.toBe(0);
  expect(await texts(product, 1)).toEqual([withoutAnswer]);
  await product.waitForLadder({ failed: 1 });
});

test('a coding agent that is killed while the model thinks is told as gone', async ({ model, product, open }) => {
  const tui = await openThinking({ model, product, open });
  signal(tui.pid, 'SIGKILL');
  expect(await texts(product, 1)).toEqual([killed]);
  await product.waitForLadder({ failed: 1 });
});

test('a turn that is cancelled at the keyboard is told as cancelled', async ({ model, product, open }) => {
  const tui = await openThinking({ model, product, open });
  await tui.key('Escape');
  await tui.waitForScreen('Request cancelled.');
  expect(await texts(product, 1)).toEqual(['Failed: Cancelled at the keyboard.']);
  await product.waitForLadder({ failed: 1 });
});
