// Reads the lines of a Gemini CLI session file (`.jsonl`, append-only with patches). Pure; the hook fallback bundles it.
// Source: recorded files in test/fixtures/gemini-0.61.0.

import type { TurnRecord } from '../hook-io.ts';

interface SessionMessage {
  id: string | undefined;
  type: string;
  text: string;
  toolResult: boolean;
  /** What hooks added to the results of tools. */
  added: string[];
  inputTokens: number | undefined;
}

/** Of every Gemini model that the CLI offers. */
const contextWindowTokens = 1_048_576;

/**
 * `text` starts at a line boundary; a torn last line is ignored. Reads the lines as they were appended: after an API error the
 * CLI rewrites its list (`$set`) without the prompt that failed, but that prompt did go to the model.
 */
export function readTurn(text: string): TurnRecord {
  const messages = text.split('\n').flatMap((line) => toMessage(parse(line)) ?? []);
  const isPrompt = (message: SessionMessage) => message.type === 'user' && !message.toolResult;
  const after = messages.slice(messages.findLastIndex(isPrompt) + 1);
  const find = (type: string) => after.findLast((message) => message.type === type && message.text.trim() !== '')?.text;
  const inputTokens = after.findLast((message) => message.inputTokens !== undefined)?.inputTokens;
  return {
    prompts: messages.flatMap((message) => [...(isPrompt(message) ? [message.text] : []), ...message.added]),
    answer: find('gemini'),
    error: find('error'),
    cancelled: after.some((message) => message.type === 'info' && message.text === 'Request cancelled.'),
    lastId: (after.findLast(({ type }) => type === 'gemini') ?? messages.at(-1))?.id,
    contextShare: inputTokens === undefined ? undefined : inputTokens / contextWindowTokens,
  };
}

function parse(line: string): Record<string, unknown> | undefined {
  if (line === '') return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function toMessage(value: unknown): SessionMessage | undefined {
  if (!isObject(value) || typeof value.type !== 'string') return undefined;
  const parts = Array.isArray(value.content) ? value.content : [{ text: value.content }];
  const texts = parts.flatMap((part: unknown) => (isObject(part) && typeof part.text === 'string' ? [part.text] : []));
  const toolResult = parts.some((part: unknown) => isObject(part) && 'functionResponse' in part);
  const added = value.type === 'user' ? parts.flatMap(addedToResult) : [];
  const tokens = isObject(value.tokens) && typeof value.tokens.input === 'number' ? value.tokens.input : undefined;
  const id = typeof value.id === 'string' ? value.id : undefined;
  return { id, type: value.type, text: texts.join(''), toolResult, added, inputTokens: tokens };
}

/** What a tool printed is no proof of anything; what hooks say stands behind it, in a mark of its own. */
function addedToResult(part: unknown): string[] {
  if (!isObject(part) || !isObject(part.functionResponse) || !isObject(part.functionResponse.response)) return [];
  const { output, error } = part.functionResponse.response;
  // A result that a hook replaced stands there as an error.
  const said = output ?? error;
  if (typeof said !== 'string') return [];
  const start = said.lastIndexOf('<hook_context>');
  return start === -1 ? [] : [said.slice(start)];
}
