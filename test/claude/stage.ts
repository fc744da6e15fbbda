// What every scenario with Claude Code starts with, as fixtures that end with their test: scripted model, home, product, terminals.

import { test as base } from 'vitest';
import { isEmptyPrompt } from '../../agent/drivers/claude/nudge.ts';
import { until } from '../gemini/processes.ts';
import { type Product, startProduct } from '../gemini/product.ts';
import { openTui, type Tui } from '../gemini/tui.ts';
import { type MessagesServer, startMessagesServer } from '../helpers/models/claude.ts';
import { type ClaudeHome, claudeCommand, claudeHome } from './harness.ts';

export interface Stage {
  model: MessagesServer;
  home: ClaudeHome;
  /** What config.json holds besides. */
  config: object;
  /** A running daemon, and the hooks installed for the user. */
  product: Product;
  /** Opens a terminal with the CLI in it; a test that is over closes it. */
  open(options?: { args?: string[]; outsideTmux?: true }): Promise<Tui>;
}

export const test = base.extend<Stage>({
  model: async ({ task: _ }, use) => {
    const model = await startMessagesServer();
    await use(model);
    await model.close();
  },
  home: async ({ model }, use) => {
    const home = await claudeHome(model.url);
    await use(home);
    await home.close();
  },
  config: async ({ task: _ }, use) => {
    await use({});
  },
  product: async ({ home, config }, use) => {
    const product = await startProduct(home, config);
    try {
      const { code, stderr } = await product.wa('hooks', 'install', '--agent', 'claude');
      if (code !== 0) throw new Error(`The hooks could not be installed: ${stderr}`);
      await use(product);
    } finally {
      await product.close();
    }
  },
  open: async ({ home, product: _ }, use) => {
    const opened: Tui[] = [];
    await use(async ({ args = [], outsideTmux } = {}) => {
      // The screen is that of tmux all the same; what tells wa-sync so is gone.
      const hides = outsideTmux ? ['env', '-u', 'TMUX', '-u', 'TMUX_PANE'] : [];
      const command = [...hides, ...(await claudeCommand(args))];
      const tui = await openTui(home, { command, ready: /^❯\s*$/m });
      opened.push(tui);
      await idle(tui);
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

/** Resolves when nothing runs and the prompt is empty. */
export async function idle(tui: Tui): Promise<void> {
  const isIdle = async () => isEmptyPrompt((await tui.screen()).trimEnd());
  if (!(await until(isIdle, 30_000))) throw new Error(`The prompt is not empty:\n${await tui.screen()}`);
}

/** Pastes and sends, as a person at the keyboard. */
export async function type(tui: Tui, text: string): Promise<void> {
  await tui.paste(text);
  await until(async () => (await tui.screen()).includes(text.slice(0, 30)), 10_000);
  await tui.enter();
}
