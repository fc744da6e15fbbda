// What every scenario with Codex starts with.

import { type ResponsesServer, startResponsesServer } from '../helpers/models/codex.ts';
import { stageOf } from '../hosts/stage.ts';
import { type Tui, typeText } from '../hosts/tui.ts';
import { codexHome, openCodex } from './harness.ts';

export const { test, testWith } = stageOf({
  startModel: () => startResponsesServer(),
  newHome: ({ url }: ResponsesServer) => codexHome(`${url}/v1`),
  install: ['--agent', 'codex'],
  config: { nudge: 'auto' },
  openTui: openCodex,
});

/** See `typeText`. */
export const type = (tui: Tui, text: string): Promise<void> => typeText(tui, text, text.slice(0, 40));
