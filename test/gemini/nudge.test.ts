// The wake-up by keystrokes: an idle terminal in tmux, and the states in which nothing may be typed.

import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { handedOver, turnRequests } from './hand-over.ts';
import { testWith, type } from './stage.ts';

const test = testWith({ nudge: 'auto' });

test('a text of the phone wakes the idle terminal and comes with the turn', async ({ model, product, open }) => {
  const tui = await open();
  await type(tui, 'first turn [[say: At your service.]]');
  await product.waitForAnswers(1);
  await product.sim.say('!rm -rf / is only a text [[say: Read it.]]');
  await tui.waitForScreen('✦ Read it.');
  expect(handedOver(await model.waitForRequest('is only a text')).map(({ text }) => text)).toEqual([
    '!rm -rf / is only a text [[say: Read it.]]',
  ]);
  await product.waitForLadder({ answered: 1 });
});

test('nothing is typed into a draft of the desk', async ({ model, product, open }) => {
  const tui = await open();
  await type(tui, 'first turn [[say: At your service.]]');
  await product.waitForAnswers(1);
  await tui.paste('half a thought');
  await product.say('Wait for me.');
  await product.waitForLadder({ delivered: 1 });
  await tui.key('Escape');
  expect(await tui.screen()).not.toContain('has come by way of wa-sync');
  expect(turnRequests(model)).toHaveLength(1);
});

test('nothing is typed into a dialog', async ({ home, product, open }) => {
  const tui = await open();
  const file = join(home.home, 'made');
  await type(tui, `work [[shell: touch ${file}]] [[say: Made.]]`);
  await tui.waitForScreen('Allow once');
  await product.sim.say('Wait for me.');
  // It may be meant for the dialog, so the phone is asked, and the agent does not get it meanwhile.
  expect((await product.waitForAnswers(1)).map(({ text }) => text)).toEqual([
    'This text answers nothing: a dialog waits in the terminal. What is this text for?',
  ]);
  await product.waitForLadder({ delivered: 1 });
  expect(await tui.screen()).toContain('Allow once');
  await expect(access(file)).rejects.toThrow();
});
