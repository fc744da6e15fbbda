// Dialogs of the real CLI in tmux: told on the phone, answered from there by the key of exactly that dialog, and never otherwise.

import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { SimMessage } from '../../agent/dev/telegram-sim/sim.ts';
import { until } from '../hosts/processes.ts';
import type { Product } from '../hosts/product.ts';
import type { GeminiHome } from './harness.ts';
import { testWith, type } from './stage.ts';

/** Who has pressed no key for a second has left: the phone hears of a dialog at once. */
const test = testWith({ presence: { awayAfter: 1 } });

async function shows(product: Product, text: string): Promise<SimMessage> {
  const find = () => product.sim.messages().find((each) => each.from === 'bot' && each.text.includes(text));
  await until(() => find() !== undefined, 30_000);
  const found = find();
  if (found) return found;
  throw new Error(
    `The phone does not show ${text}: ${JSON.stringify(product.sim.messages().map((each) => each.text))}`,
  );
}

const labels = ({ buttons }: SimMessage) => buttons.flat().map(({ label }) => label);
const made = (home: GeminiHome) =>
  access(join(home.project, 'made')).then(
    () => true,
    () => false,
  );
const work = 'work [[shell: touch made]] [[say: Made.]]';
const told = 'A dialog waits in the terminal: Confirm Shell Command\ntouch made\n';

test('a dialog is told with its command, and Allow once lets exactly this call run', async ({
  home,
  product,
  open,
}) => {
  const tui = await open();
  await type(tui, work);
  const asked = await shows(product, told);
  expect([asked.text, labels(asked)]).toEqual([`${told}Answer it here or in the terminal.`, ['Allow once', 'Deny']]);
  expect(await made(home)).toBe(false);
  await product.sim.press(asked.messageId, 'Allow once');
  await tui.waitForScreen('✦ Made.');
  expect(await made(home)).toBe(true);
  const after = await shows(product, '✅ Allowed once, from here.');
  expect([after.messageId, labels(after)]).toEqual([asked.messageId, []]);
  const audit = await readFile(join(home.project, '.gemini', 'wa_audit.jsonl'), 'utf8');
  const lines = audit
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.find(({ kind }) => kind === 'dialog')).toMatchObject({
    answer: 'allow',
    by: String(product.sim.ownerId),
    text: 'touch made',
  });
});

test('Deny refuses the call, ends the turn, and the next prompt is a new turn', async ({
  home,
  model,
  product,
  open,
}) => {
  // The CLI sends the prompt of the cancelled turn along with the next one.
  model.rule(({ userTexts }) => (userTexts.join().includes('Anything else') ? { text: 'Ready.' } : undefined));
  const tui = await open();
  await type(tui, work);
  await product.sim.press((await shows(product, told)).messageId, 'Deny');
  await shows(product, '❌ Denied from here. The turn has ended.');
  await tui.waitForScreen('Request cancelled.');
  expect(await made(home)).toBe(false);
  await type(tui, 'Anything else?');
  await shows(product, 'Ready.');
  expect(product.sim.messages().filter(({ text }) => text.startsWith('Failed'))).toEqual([]);
});

test('a dialog that is answered in the terminal loses its buttons', async ({ product, open }) => {
  const tui = await open();
  await type(tui, 'work [[shell: sleep 20; touch made]] [[say: Made.]]');
  const asked = await shows(product, 'sleep 20');
  await tui.key('1');
  const over = await shows(product, '▫️ It is over: answered or cancelled in the terminal.');
  expect([over.messageId, labels(over)]).toEqual([asked.messageId, []]);
});

test('no key is pressed while the terminal shows something else', async ({ home, product, open }) => {
  const tui = await open();
  await type(tui, work);
  const asked = await shows(product, told);
  // A person reads what has scrolled away.
  await tui.copyMode();
  await product.sim.press(asked.messageId, 'Allow once');
  await shows(product, 'The terminal does not show exactly this dialog now, so no key was pressed.');
  expect(await made(home)).toBe(false);
});

test('/stop cancels a dialog that waits, and its turn', async ({ home, product, open }) => {
  const tui = await open();
  await type(tui, work);
  await shows(product, told);
  await product.sim.say('/stop');
  await shows(product, 'Stopped: the dialog in the terminal was cancelled, and the turn with it.');
  await shows(product, '⛔ Cancelled by your STOP.');
  await tui.waitForScreen('Request cancelled.');
  expect(await made(home)).toBe(false);
});

test('a dialog whose arguments the screen hides is told with how to be asked on the phone', async ({
  model,
  product,
  open,
}) => {
  model.rule(({ method, toolResults, userTexts }) =>
    method === 'streamGenerateContent' && toolResults === 0 && userTexts.join('').includes('fetch it')
      ? { toolCall: { name: 'web_fetch', args: { prompt: 'read https://example.org/' } } }
      : undefined,
  );
  const tui = await open();
  await type(tui, 'fetch it');
  await tui.waitForScreen('Allow once');
  const asked = await shows(
    product,
    'Only the terminal can answer it. To be asked here instead, send /approvals risky,',
  );
  expect(asked.text).toContain('then start the agent there with `gemini --approval-mode yolo`.');
  expect(labels(asked)).toEqual([]);
  await product.sim.say('/stop');
  await shows(product, 'A dialog waits in the terminal and can be answered only there.');
});
