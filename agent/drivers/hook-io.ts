// Which coding agents' hook payloads we can read. One entry per driver; the hook fallback bundles this table.

import type { Tool } from '../../protocol/hook.ts';
import type { HookCall, TurnAnswer } from '../../protocol/turn-events.ts';
import * as gemini from './gemini/hook-io.ts';
import { readTurn } from './gemini/session-log.ts';

/** What the coding agent's own session file says about a turn. */
export interface TurnRecord {
  /** Texts of the user messages: the prompt and what hooks added to it, and what hooks added to the results of tools. */
  prompts: string[];
  /** The model's last text after the last prompt, exactly; undefined when there is none. */
  answer: string | undefined;
  /** Text of an API error after the last prompt. */
  error: string | undefined;
  /** The user cancelled at the keyboard. */
  cancelled: boolean;
  /** Of the context window that the last request filled, 0 to 1; undefined = the file does not say. */
  contextShare: number | undefined;
  /** Id of the model's last message after the last prompt, else of the last message: names an end that no event told. */
  lastId: string | undefined;
}

export interface HookIo {
  /** Undefined = not a payload of this event. */
  readCall(event: string, payload: unknown): HookCall | undefined;
  writeAnswer(event: string, answer: TurnAnswer): object;
  /** `text` = the session file from the turn's start, beginning at a line boundary. */
  readTurn(text: string): TurnRecord;
}

const table: Partial<Record<Tool, HookIo>> = {
  gemini: { readCall: gemini.readCall, writeAnswer: gemini.writeAnswer, readTurn },
};

export function hookIoOf(tool: Tool): HookIo | undefined {
  return table[tool];
}
