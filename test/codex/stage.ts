// What every scenario starts with, as fixtures that end with their test: scripted model, home, product, terminals.

import { test as base } from 'vitest';
import { until } from '../gemini/processes.ts';
import { type Product, startProduct } from '../gemini/product.ts';
import type { Tui } from '../gemini/tui.ts';
import { type ResponsesServer, startResponsesServer } from '../helpers/models/codex.ts';
import { type CodexHome, codexHome, openCodex } from './harness.ts';

export interface Stage {
  model: ResponsesServer;
  home: CodexHome;
  /** What config.json holds besides. */
  config: object;
  /** A running daemon, and the hooks installed for the user. */
  product: Product;
  /** Opens a terminal; a test that is over closes it. */
  open(...args: string[]): Promise<Tui>;
}

export const test = base.extend<Stage>({
  model: async ({ task: _ }, use) => {
    const model = await startResponsesServer();
    await use(model);
    await model.close();
  },
  home: async ({ model }, use) => {
    const home = await codexHome(`${model.url}/v1`);
    await use(home);
    await home.close();
  },
  config: async ({ task: _ }, use) => {
    await use({});
  },
  product: async ({ home, config }, use) => {
    const product = await startProduct(home, { nudge: 'auto', ...config });
    try {
      const { code, stderr } = await product.wa('hooks', 'install', '--agent', 'codex');
      if (code !== 0) throw new Error(`The hooks could not be installed: ${stderr}`);
      await use(product);
    } finally {
      await product.close();
    }
  },
  open: async ({ home, product: _ }, use) => {
    const opened: Tui[] = [];
    await use(async (...args) => {
      const tui = await openCodex(home, args);
      opened.push(tui);
      return tui;
    });
    for (const tui of opened) await tui.close();
  },
});

/** With these keys in config.json. */
export function testWith(config: object) {
  return test.extend({
    config: async ({ task: _ }, use) => {
      await use(config);
    },
  });
}

/** Pastes and sends, as a person at the keyboard. */
export async function type(tui: Tui, text: string): Promise<void> {
  const shown = text.slice(0, 40);
  await tui.paste(text);
  await until(async () => (await tui.screen()).includes(shown), 10_000);
  await tui.enter();
}
