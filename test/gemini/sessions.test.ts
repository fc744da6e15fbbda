// One project has one session that gets the messages; the others are left alone while it lives.

import { expect } from 'vitest';
import { handedOver, hookContext } from './hand-over.ts';
import { runHeadless } from './harness.ts';
import { recordHooks } from './hook-recorder.ts';
import { test, type } from './stage.ts';

test('a second terminal and a headless run get nothing while the first terminal lives, and then they do', async ({
  model,
  home,
  product,
  open,
}) => {
  const first = await open();
  const second = await open();
  await product.say('For the first terminal. [[say: The first one has it.]]');

  await runHeadless(home, { prompt: 'headless turn [[say: Nothing here.]]' });
  expect(hookContext(await model.waitForRequest('headless turn'))).toEqual([]);
  await type(second, 'second turn [[say: Nothing here either.]]');
  await second.waitForScreen('✦ Nothing here either.');
  expect(hookContext(await model.waitForRequest('second turn'))).toEqual([]);
  await product.waitForLadder({ delivered: 1 });

  await type(first, 'first turn');
  await first.waitForScreen('✦ The first one has it.');
  expect(handedOver(await model.waitForRequest('first turn')).map(({ text }) => text)).toEqual([
    'For the first terminal. [[say: The first one has it.]]',
  ]);
  const messages = await product.waitForAnswers(1);
  expect(messages.map(({ text }) => text)).toEqual(['The first one has it.']);
  await product.waitForLadder({ answered: 1 });

  await first.key('C-c');
  await first.waitForScreen('Press Ctrl+C again to exit');
  await first.key('C-c');
  await first.waitForExit();
  await product.say('For the second terminal. [[say: The second one has it.]]');
  await type(second, 'second turn again');
  await second.waitForScreen('✦ The second one has it.');
  await product.waitForLadder({ answered: 2 });
});

test('/clear gives the terminal another session, and the messages follow', async ({ model, home, product, open }) => {
  const hooks = await recordHooks(home, ['SessionStart']);
  const tui = await open();
  await type(tui, 'first turn [[say: Before.]]');
  await tui.waitForScreen('✦ Before.');
  await type(tui, '/clear');
  const [before, after] = await hooks.waitFor('SessionStart', 2);
  expect(after).toMatchObject({ source: 'clear' });
  expect(after?.session_id).not.toBe(before?.session_id);
  await product.say('After the clearing. [[say: Still here.]]');
  await type(tui, 'go on');
  expect(handedOver(await model.waitForRequest('After the clearing.')).map(({ text }) => text)).toEqual([
    'After the clearing. [[say: Still here.]]',
  ]);
  const messages = await product.waitForAnswers(2);
  expect(messages.map(({ text }) => text)).toEqual(['Before.', 'Still here.']);
  await product.waitForLadder({ answered: 1 });
});
