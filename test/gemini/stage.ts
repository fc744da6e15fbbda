// What every scenario starts with, as fixtures that end with their test: scripted model, home, product, terminals.

import { test as base } from 'vitest';
import { type ModelServer, startModelServer } from '../helpers/models/gemini.ts';
import { type GeminiHome, geminiHome, type RunOptions } from './harness.ts';
import { until } from './processes.ts';
import { type Product, startProduct } from './product.ts';
import { startTui, type Tui } from './tui.ts';

export interface Stage {
  model: ModelServer;
  /** Its project's path has a space. */
  home: GeminiHome;
  /** What config.json holds besides. */
  config: object;
  /** A running daemon, and the hooks installed as the extension. */
  product: Product;
  /** Opens a terminal with the CLI in it; a test that is over closes it. */
  open(options?: RunOptions): Promise<Tui>;
}

export const test = base.extend<Stage>({
  model: async ({ task: _ }, use) => {
    const model = await startModelServer();
    await use(model);
    await model.close();
  },
  home: async ({ model }, use) => {
    const home = await geminiHome({ modelUrl: model.url, projectName: 'my project' });
    await use(home);
    await home.close();
  },
  config: async ({ task: _ }, use) => {
    await use({});
  },
  product: async ({ home, config }, use) => {
    const product = await startProduct(home, config);
    try {
      const { code, stderr } = await product.wa('hooks', 'install');
      if (code !== 0) throw new Error(`The hooks could not be installed: ${stderr}`);
      await use(product);
    } finally {
      await product.close();
    }
  },
  open: async ({ home, product: _ }, use) => {
    const opened: Tui[] = [];
    await use(async (options) => {
      const tui = await startTui(home, options);
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
  const last = (text.split('\n').at(-1) ?? '').slice(0, 60);
  const shown = async () => (await tui.screen()).split(last).length;
  const before = await shown();
  await tui.paste(text);
  // On a busy machine the CLI reads a paste late, and an Enter with it as a newline of the prompt. A long text is not shown.
  await until(async () => (await shown()) > before, 10_000);
  await tui.enter();
}
