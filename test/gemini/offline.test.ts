// Without the daemon the hooks work on the files alone; what they did is carried on, once, when it is back.

import { expect } from 'vitest';
import type { Product } from '../hosts/product.ts';
import { handedOver, holdModel, hookContext } from './hand-over.ts';
import { runHeadless } from './harness.ts';
import { test } from './stage.ts';

async function phoneTexts(product: Product, count: number): Promise<string[]> {
  return (await product.waitForAnswers(count)).map(({ text }) => text);
}

async function outboxTexts(product: Product): Promise<[text: string, sent: boolean][]> {
  return (await product.outbox()).map(({ text, sent }) => [text, sent]);
}

test('while the daemon is stopped, hooks give the text from the file and keep the answers there, and each answer is sent once', async ({
  model,
  home,
  product,
}) => {
  await product.say('Sent before. [[say: Answered without a daemon.]]');
  const [entry] = await product.inbox();
  await product.stopDaemon();

  await runHeadless(home, { prompt: 'first' });
  const request = await model.waitForRequest('Sent before.');
  expect(handedOver(request)).toEqual([
    { id: entry?.id, marks: `from the owner's phone · sent ${entry?.timestamp}`, text: entry?.text },
  ]);
  expect(hookContext(request).join()).toContain('The wa-sync daemon is not running');
  const via = {
    tool: 'gemini',
    session: expect.any(String),
    transcript: expect.stringContaining('/chats/session-'),
    at: expect.any(Number),
    starts: true,
  };
  expect(await product.inbox()).toEqual([{ ...entry, read: true, via }]);
  expect(await outboxTexts(product)).toEqual([['Answered without a daemon.', false]]);

  // The owner goes on typing: the relay keeps it.
  await product.sim.say('Sent meanwhile. [[say: Answered with the daemon.]]');
  await runHeadless(home, { prompt: 'second [[say: Nothing new.]]' });
  expect(hookContext(await model.waitForRequest('second'))).toEqual([]);
  expect(await outboxTexts(product)).toEqual([
    ['Answered without a daemon.', false],
    ['Nothing new.', false],
  ]);
  expect(await product.waitForAnswers(0)).toEqual([]);

  await product.startDaemon();
  await product.waitForLadder({ answered: 1, delivered: 1 });
  expect(await phoneTexts(product, 2)).toEqual(['Answered without a daemon.', 'Nothing new.']);
  await runHeadless(home, { prompt: 'third' });
  expect(handedOver(await model.waitForRequest('third')).map(({ text }) => text)).toEqual([
    'Sent meanwhile. [[say: Answered with the daemon.]]',
  ]);
  await product.waitForLadder({ answered: 2 });

  // A second start finds nothing left to do.
  await product.stopDaemon();
  await product.startDaemon();
  await runHeadless(home, { prompt: 'fourth [[say: The end.]]' });
  expect(hookContext(await model.waitForRequest('fourth'))).toEqual([]);
  const all = ['Answered without a daemon.', 'Nothing new.', 'Answered with the daemon.', 'The end.'];
  expect(await phoneTexts(product, 4)).toEqual(all);
  expect((await product.waitForSent()).map(({ text }) => text)).toEqual(all);
});

test('a daemon that is killed in the middle of a turn loses neither the answer nor the receipt', async ({
  model,
  home,
  product,
}) => {
  const answer = holdModel(model);
  await product.say('Think about it. [[say: Thought about it.]]');
  const run = runHeadless(home, { prompt: 'go on' });
  await model.waitForRequest('Think about it.');
  await product.waitForLadder({ injected: 1 });
  await product.stopDaemon('SIGKILL');
  answer();
  expect(await run).toMatchObject({ code: 0, stdout: 'Thought about it.\n' });
  expect(await outboxTexts(product)).toEqual([['Thought about it.', false]]);

  await product.startDaemon();
  expect(await phoneTexts(product, 1)).toEqual(['Thought about it.']);
  await product.waitForLadder({ answered: 1 });
  await product.waitForSent();
  expect(await phoneTexts(product, 1)).toEqual(['Thought about it.']);
});

test('a daemon that comes back in the middle of a turn goes on with it', async ({ model, product, open }) => {
  const answer = holdModel(model);
  const tui = await open();
  await product.say('Think about it. [[say: Thought about it.]]');
  await tui.paste('go on');
  await tui.enter();
  await model.waitForRequest('Think about it.');
  await product.waitForLadder({ injected: 1 });
  await product.stopDaemon('SIGKILL');
  await product.startDaemon();
  answer();
  expect(await phoneTexts(product, 1)).toEqual(['Thought about it.']);
  await product.waitForLadder({ answered: 1 });
});
