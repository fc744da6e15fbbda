// Tools of the real Codex that wait for the phone: at their gate, and where Codex would ask the person at the terminal.

import { access } from 'node:fs/promises';
import { expect } from 'vitest';
import { until } from '../gemini/processes.ts';
import type { Product } from '../gemini/product.ts';
import { test, type } from './stage.ts';

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

/** Taps a button of the newest question. */
async function tap({ sim }: Product, label: string): Promise<void> {
  const asked = () => sim.messages().findLast(({ buttons }) => buttons.flat().some((button) => button.label === label));
  await until(() => asked() !== undefined, 30_000);
  const message = asked();
  if (!message) throw new Error(`No question has a button ${label}: ${JSON.stringify(sim.messages())}`);
  await sim.tap(message.id, label);
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
  await tap(product, 'Approve');
  expect(await until(() => exists(yes), 20_000)).toBe(true);
  await tap(product, 'Deny');
  const request = await model.waitForRequest('The owner denied this on the phone.');
  expect(request.toolResults).toBe(2);
  await tui.waitForScreen('• Over.');
  expect(await exists(no)).toBe(false);
  expect(product.sim.messages().filter(({ text }) => text.startsWith('Run a command?'))).toHaveLength(2);
});
