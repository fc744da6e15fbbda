// Reads the lines of a Gemini CLI session file (`.jsonl`, append-only with patches). Pure; the hook fallback bundles it.
// Source: recorded files in test/fixtures/gemini-0.61.0.

import type { RanTool, SessionRecord } from '../driver.ts';

interface SessionMessage {
  id: string | undefined;
  type: string;
  text: string;
  toolResult: boolean;
  /** What hooks added to the results of tools. */
  added: string[];
  inputTokens: number | undefined;
  totalTokens: number | undefined;
  tools: RanTool[];
}

/** Of every Gemini model that the CLI offers. */
const contextWindowTokens = 1_048_576;

/** What the CLI puts behind the summary of a compression, in the model's name. */
const thanks = 'Got it. Thanks for the additional context!';

/**
 * Reads the lines as they were appended: after an API error the CLI rewrites its list (`$set`) without the prompt that failed, but
 * that prompt did go to the model. A list that is written anew repeats old messages; it says of itself only that it was compressed:
 * with `auto` the CLI's own event comes before every model request, whether anything is compressed or not.
 */
export function readSession(text: string): SessionRecord {
  const lines = text
    .split('\n')
    .map(parse)
    .filter((line) => line !== undefined);
  const messages = lines.flatMap((line) => toMessage(line) ?? []);
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
    tools: messages.flatMap(({ tools }) => tools),
    tokens: new Map(
      messages.flatMap(({ id, totalTokens }) =>
        id === undefined || totalTokens === undefined ? [] : [[id, totalTokens] as const],
      ),
    ),
    compressions: lines.flatMap((line) => summaryIn(line.$set)),
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
  const { id, type, content } = value;
  const parts = Array.isArray(content) ? content : [{ text: content }];
  const texts = parts.flatMap((part: unknown) => (isObject(part) && typeof part.text === 'string' ? [part.text] : []));
  const tokens = isObject(value.tokens) ? value.tokens : {};
  return {
    id: typeof id === 'string' ? id : undefined,
    type,
    text: texts.join(''),
    toolResult: parts.some((part: unknown) => isObject(part) && 'functionResponse' in part),
    added: type === 'user' ? parts.flatMap(addedToResult) : [],
    inputTokens: typeof tokens.input === 'number' ? tokens.input : undefined,
    totalTokens: typeof tokens.total === 'number' ? tokens.total : undefined,
    tools: type === 'gemini' && Array.isArray(value.toolCalls) ? value.toolCalls.flatMap(toTool) : [],
  };
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

/** A call that was refused, cancelled or failed may never have run. */
function toTool(call: unknown): RanTool[] {
  if (!isObject(call) || call.status !== 'success') return [];
  const { id, name, args, timestamp } = call;
  if (typeof id !== 'string' || typeof name !== 'string' || typeof timestamp !== 'string') return [];
  return [
    { id, tool: name, input: isObject(args) && !Array.isArray(args) ? args : {}, at: Date.parse(timestamp) || 0 },
  ];
}

function summaryIn($set: unknown): string[] {
  const messages = isObject($set) && Array.isArray($set.messages) ? $set.messages : [];
  const texts = messages.map((message: unknown) => {
    const { type, content } = isObject(message) ? message : {};
    const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
    const said = parts.map((part) => (isObject(part) ? part.text : part));
    return { type, text: said.filter((each) => typeof each === 'string').join('') };
  });
  const at = texts.findIndex(({ type, text }) => type === 'gemini' && text === thanks);
  return at > 0 ? [texts[at - 1]?.text ?? ''] : [];
}
