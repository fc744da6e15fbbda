// Tools of the real Codex that wait for the phone: at their gate, and where Codex would ask the person at the terminal.

import { access } from 'node:fs/promises';
import { expect } from 'vitest';
import { until } from '../hosts/processes.ts';
import type { Product } from '../hosts/product.ts';
import { test, type } from './stage.ts';

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

/** Taps a button of the newest message that has it. */
async function tap({ sim }: Product, about: string, label: string): Promise<void> {
  const asked = () =>
    sim.messages().findLast(({ text, buttons }) => text.includes(about) && JSON.stringify(buttons).includes(label));
  await until(() => asked() !== undefined, 30_000);
  const message = asked();
  if (!message) throw new Error(`No question about ${about}: ${JSON.stringify(sim.messages())}`);
  await sim.press(message.messageId, label);
}

test('a command runs after Approve and not after Deny, and an approved call is not asked about twice', async ({
  model,
  home,
  product,
  open,
}) => {
  const [yes, no] = [`${home.project}/yes`, `${home.project}/no`];
  const tui = await open();
  await product.sim.say('/approvals all');
  await product.waitForAnswers(1);
  await type(tui, `work [[ask: touch '${yes}']] [[shell: touch '${no}']] [[say: Over.]]`);
  await tap(product, yes, 'Approve');
  expect(await until(() => exists(yes), 20_000)).toBe(true);
  await tap(product, no, 'Deny');
  const request = await model.waitForRequest('The owner denied this on the phone.');
  expect(request.toolResults).toBe(2);
  await tui.waitForScreen('• Over.');
  expect(await exists(no)).toBe(false);
  expect(product.sim.messages().filter(({ text }) => text.startsWith('Run a command?'))).toHaveLength(2);
});

test('what Codex would ask at the terminal is asked on the phone of an owner who is away', async ({
  home,
  product,
  open,
}) => {
  const made = `${home.home}/made`;
  const tui = await open();
  await type(tui, 'first turn [[say: Ready.]]');
  await product.waitForAnswers(1);
  await product.sim.say('/away on');
  await product.waitForAnswers(2);
  await product.sim.say(`[[ask: touch ${made}]] [[say: Made.]]`);
  await tap(product, made, 'Approve');
  await tui.waitForScreen('• Made.');
  expect(await exists(made)).toBe(true);
  const shown = () => product.sim.messages().find(({ text }) => text.includes('✅ Approved.'))?.text;
  await until(() => shown() !== undefined, 60_000);
  expect(shown()).toContain("the agent's reason: The tests need it");
});
