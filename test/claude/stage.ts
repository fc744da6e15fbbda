// What every scenario with Claude Code starts with.

import { isEmptyPrompt } from '../../agent/drivers/claude/nudge.ts';
import { type MessagesServer, startMessagesServer } from '../helpers/models/claude.ts';
import { until } from '../hosts/processes.ts';
import { stageOf } from '../hosts/stage.ts';
import { type Tui, typeText } from '../hosts/tui.ts';
import { claudeHome, openClaude } from './harness.ts';

export const { test, testWith } = stageOf({
  startModel: () => startMessagesServer(),
  newHome: ({ url }: MessagesServer) => claudeHome(url),
  install: ['--agent', 'claude'],
  openTui: openClaude,
  settled: idle,
});

/** Resolves when nothing runs and the prompt is empty. */
export async function idle(tui: Tui): Promise<void> {
  const isIdle = async () => isEmptyPrompt((await tui.screen()).trimEnd());
  if (!(await until(isIdle, 30_000))) throw new Error(`The prompt is not empty:\n${await tui.screen()}`);
}

/** See `typeText`. */
export const type = (tui: Tui, text: string): Promise<void> => typeText(tui, text, text.slice(0, 30));
