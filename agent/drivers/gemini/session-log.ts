// Reads the lines of a Gemini CLI session file (`.jsonl`, append-only with patches). Pure; the hook fallback bundles it.
// Source: recorded files in test/fixtures/gemini-0.61.0.

import type { RanTool, SessionRecord } from '../driver.ts';
import { list, object, parsed, text, timeOf } from '../fields.ts';

/** Every Gemini model that the CLI offers has this window. */
const contextWindowTokens = 1_048_576;

/** The CLI writes this answer of the model behind the summary of a compression. */
const thanks = 'Got it. Thanks for the additional context!';

/**
 * Reads the lines as they were appended: after an API error the CLI rewrites its list (`$set`) without the prompt that failed, but
 * that prompt did go to the model. A rewritten list repeats old messages, so only its summary counts: with `auto` the CLI's own event
 * comes before every model request, whether anything is compressed or not.
 */
export function readSession(whole: string): SessionRecord {
  const lines = whole.split('\n').map(parsed);
  const messages = lines.flatMap((line) => toMessage(line) ?? []);
  const isPrompt = (message: (typeof messages)[number]) => message.type === 'user' && !message.toolResult;
  const after = messages.slice(messages.findLastIndex(isPrompt) + 1);
  const find = (type: string) => after.findLast((message) => message.type === type && message.text.trim() !== '')?.text;
  const inputTokens = after.findLast((message) => message.inputTokens !== undefined)?.inputTokens;
  return {
    prompts: messages.flatMap((message) => [...(isPrompt(message) ? [message.text] : []), ...message.added]),
    answer: find('gemini'),
    error: find('error'),
    cancelled: after.some((message) => message.type === 'info' && message.text === 'Request cancelled.'),
    lastId: (after.findLast(({ type }) => type === 'gemini') ?? messages.at(-1))?.id,
    model: messages.findLast(({ model }) => model !== undefined)?.model,
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

function toMessage(value: Record<string, unknown>) {
  const { id, type, content, tokens, toolCalls, model } = value;
  if (typeof type !== 'string') return undefined;
  const parts = (Array.isArray(content) ? content : [{ text: content }]).map(object);
  const { input, total } = object(tokens);
  return {
    id: text(id),
    type,
    text: parts.flatMap((part) => text(part.text) ?? []).join(''),
    toolResult: parts.some((part) => 'functionResponse' in part),
    /** Texts that hooks added to the results of tools. */
    added: type === 'user' ? parts.flatMap(addedToResult) : [],
    model: type === 'gemini' ? text(model) : undefined,
    inputTokens: typeof input === 'number' ? input : undefined,
    totalTokens: typeof total === 'number' ? total : undefined,
    tools: type === 'gemini' ? list(toolCalls).flatMap(toTool) : [],
  };
}

/** The output of a tool proves nothing; the text of hooks stands behind the output, in a mark of its own. */
function addedToResult({ functionResponse }: Record<string, unknown>): string[] {
  const { output, error } = object(object(functionResponse).response);
  // A result that a hook replaced is stored as an error.
  const said = text(output ?? error) ?? '';
  const start = said.lastIndexOf('<hook_context>');
  return start === -1 ? [] : [said.slice(start)];
}

/** A call that was refused, cancelled or failed may never have run. */
function toTool(call: unknown): RanTool[] {
  const { id, name, args, timestamp, status } = object(call);
  if (typeof id !== 'string' || typeof name !== 'string' || typeof timestamp !== 'string') return [];
  return status === 'success' ? [{ id, tool: name, input: object(args), at: timeOf(timestamp) ?? 0 }] : [];
}

function summaryIn($set: unknown): string[] {
  const texts = list(object($set).messages).map((message) => {
    const { type, content } = object(message);
    const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
    return { type, text: parts.flatMap((part) => text(part) ?? text(object(part).text) ?? []).join('') };
  });
  const at = texts.findIndex((each) => each.type === 'gemini' && each.text === thanks);
  return at > 0 ? [texts[at - 1]?.text ?? ''] : [];
}
