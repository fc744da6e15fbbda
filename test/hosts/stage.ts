// What every scenario with a coding agent starts with, as fixtures that end with their test: scripted model, home, product, terminals.

import { test as base } from 'vitest';
import type { HostHome } from './home.ts';
import { type Product, startProduct } from './product.ts';
import type { Tui } from './tui.ts';

export interface Stage<Model, Home, Options extends unknown[]> {
  model: Model;
  home: Home;
  /** What config.json holds besides. */
  config: object;
  /** A running daemon, and the hooks installed for the user. */
  product: Product;
  /** Opens a terminal with the agent in it; a test that is over closes it. */
  open(...options: Options): Promise<Tui>;
}

interface Host<Model, Home, Options extends unknown[]> {
  startModel(): Promise<Model>;
  newHome(model: Model): Promise<Home>;
  /** Further words of `wa-sync hooks install`. */
  install: readonly string[];
  /** Of config.json, where a test says nothing else. */
  config?: object;
  openTui(home: Home, ...options: Options): Promise<Tui>;
  /** Resolves when a new terminal can be typed into. */
  settled?(tui: Tui): Promise<void>;
}

export function stageOf<Model extends { close(): Promise<unknown> }, Home extends HostHome, Options extends unknown[]>(
  host: Host<Model, Home, Options>,
) {
  const test = base.extend<Stage<Model, Home, Options>>({
    model: async ({ task: _ }, use) => {
      const model = await host.startModel();
      await use(model);
      await model.close();
    },
    home: async ({ model }, use) => {
      const home = await host.newHome(model);
      await use(home);
      await home.close();
    },
    config: async ({ task: _ }, use) => {
      await use({});
    },
    product: async ({ home, config }, use) => {
      const product = await startProduct(home, { ...host.config, ...config });
      try {
        const { code, stderr } = await product.wa('hooks', 'install', ...host.install);
        if (code !== 0) throw new Error(`The hooks could not be installed: ${stderr}`);
        await use(product);
      } finally {
        await product.close();
      }
    },
    open: async ({ home, product: _ }, use) => {
      const opened: Tui[] = [];
      await use(async (...options) => {
        const tui = await host.openTui(home, ...options);
        opened.push(tui);
        await host.settled?.(tui);
        return tui;
      });
      for (const tui of opened) await tui.close();
    },
  });
  /** With these keys in config.json. */
  const testWith = (config: object) =>
    test.extend({
      config: async ({ task: _ }, use) => {
        await use(config);
      },
    });
  return { test, testWith };
}
