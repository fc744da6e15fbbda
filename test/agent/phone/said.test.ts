// What the model writes in a turn of the terminal, told part by part by its hooks, in the one message that is edited in place.

import { beforeEach, expect, it } from 'vitest';
import type { Progress } from '../../../agent/phone/progress.ts';
import { privatePhone } from '../../helpers/private-phone.ts';
import { eachTurn } from './world.ts';

const { world, sent, texts, create, pass } = eachTurn((text) => text.replaceAll('hunter2 is it', '[redacted]'));
let progress: Progress;
beforeEach(() => {
  progress = create();
});

const shown = () => texts().at(-1);
const says = (message: string, index: number, text: string, last = false) =>
  progress.said({ type: 'says', message, index, text, last });

it('grows in place above the tools, of which the hooks tell, and ends as a turn of the terminal ends', async () => {
  progress.started();
  says('m1', 0, 'I look at the tests first.', true);
  await pass(3_000);
  expect(shown()).toBe('I look at the tests first.\n\nWorking, 3 s');
  progress.running('Running: npm test');
  await pass(2_000);
  expect(shown()).toBe('I look at the tests first.\n\nWorking, 5 s\nRunning: npm test');
  progress.tool('Bash');
  says('m2', 0, 'All of them pass.', true);
  await pass(2_000);
  expect(shown()).toBe('I look at the tests first.\n\nAll of them pass.\n\nWorking, 7 s\n1 tool call: Bash');
  progress.ended(false);
  expect([shown(), new Set(sent.map(({ slot }) => slot)).size]).toEqual(['Done after 7 s, 1 tool call.', 1]);
});

it('stands in order, however its parts come, and never without the parts before', async () => {
  progress.started();
  says('m1', 2, 'Third.', true);
  says('m1', 1, 'Second.\n\n');
  await pass(8_000);
  expect(shown()).toBe('Working, 8 s');
  says('m1', 0, 'First.\n\n');
  says('m1', 0, 'First.\n\n');
  await pass(2_000);
  expect(shown()).toBe('First.\n\nSecond.\n\nThird.\n\nWorking, 10 s');
});

it('shows no secret, also when the secret comes in two parts', async () => {
  progress.started();
  says('m1', 0, 'The password hunter2 ');
  await pass(3_000);
  expect(texts().join('\n')).not.toContain('hunter2');
  says('m1', 1, 'is it.', true);
  await pass(8_000);
  expect(shown()).toContain('The password [redacted].');
  expect(texts().join('\n')).not.toContain('hunter2');
});

it('is left out where the phone has no edits, since the text would stay as it began', async () => {
  world.phone = { ...privatePhone, edit: false };
  progress.started();
  says('m1', 0, 'I look.', true);
  await pass(8_000);
  expect(texts()).toEqual(['Working, 8 s']);
});

it('that comes after the end of its turn, or of many texts at once, changes nothing and stays bounded', async () => {
  progress.started();
  for (let index = 0; index < 1_000; index += 1) says(`m${index}`, 1, 'x'.repeat(1_000));
  for (let index = 1; index < 1_000; index += 1) says('mine', index, 'x'.repeat(1_000));
  await pass(8_000);
  expect(shown()).toBe('Working, 8 s');
  progress.ended(false);
  const before = sent.length;
  says('mine', 0, 'Too late.', true);
  await pass(60_000);
  expect(sent).toHaveLength(before);
});
