// What every scenario with Gemini CLI starts with; its project's path has a space. The hooks are installed as the extension.

import { type ModelServer, startModelServer } from '../helpers/models/gemini.ts';
import { type Stage as HostStage, stageOf } from '../hosts/stage.ts';
import { type Tui, typeText } from '../hosts/tui.ts';
import { type GeminiHome, geminiHome, type RunOptions, startTui } from './harness.ts';

export type Stage = HostStage<ModelServer, GeminiHome, [RunOptions?]>;

export const { test, testWith } = stageOf({
  startModel: () => startModelServer(),
  newHome: ({ url }: ModelServer) => geminiHome({ modelUrl: url, projectName: 'my project' }),
  install: [],
  openTui: startTui,
});

/** See `typeText`. */
export const type = (tui: Tui, text: string): Promise<void> =>
  typeText(tui, text, (text.split('\n').at(-1) ?? '').slice(0, 60));
