// Reads the lines of a Claude Code session file (append-only JSONL). Pure; the hook fallback bundles it. A model's message has a line for
// each of its parts, with one id. Source: recorded files in test/fixtures/claude-2.1.329.

import type { RanTool, SessionRecord } from '../driver.ts';
import { list, object, parsed, text } from '../fields.ts';

/** A user line that the host writes where a person pressed Esc. */
const interrupted = /^\[Request interrupted by user/;

type Fields = Record<string, unknown>;

interface Line {
  /** In the text that was read. */
  at: number;
  fields: Fields;
  parts: Fields[];
}

/** Lines of agents that the session's agent runs stand in files of their own; a line that says otherwise is passed over. */
export function readSession(whole: string): SessionRecord {
  const lines = linesOf(whole);
  const prompt = lines.findLastIndex((line) => isPrompt(line));
  const after = lines.slice(prompt + 1);
  const said = after.filter(({ fields }) => fields.type === 'assistant' && fields.isApiErrorMessage !== true);
  const last = said.findLast(({ parts }) => textIn(parts) !== '');
  const models = lines.filter(({ fields }) => fields.type === 'assistant' && fields.isApiErrorMessage !== true);
  const { tools, openFrom } = toolsIn(lines, prompt);
  return {
    prompts: lines.flatMap((line) => [...(isPrompt(line) ? [textIn(line.parts)] : []), ...addedBy(line.fields)]),
    answer: last && answerOf(after, last),
    isAnswered: last !== undefined && last === said.at(-1) && object(last.fields.message).stop_reason === 'end_turn',
    error: after
      .filter(({ fields }) => fields.isApiErrorMessage === true)
      .map(({ parts }) => textIn(parts))
      .findLast((each) => each !== ''),
    cancelled: after.some((line) => line.fields.type === 'user' && interrupted.test(textIn(line.parts))),
    lastId: text((after.findLast(({ fields }) => fields.type === 'assistant') ?? lines.at(-1))?.fields.uuid),
    model: models.map(({ fields }) => text(object(fields.message).model)).findLast((each) => each !== undefined),
    contextShare: models.map(({ fields }) => shareOf(fields)).findLast((each) => each !== undefined),
    tools,
    ...(openFrom === undefined ? {} : { openFrom }),
    tokens: new Map(
      models.flatMap(({ fields }) => {
        const [id, used] = [text(object(fields.message).id), usageOf(fields)];
        return id === undefined || used === undefined ? [] : [[id, used] as const];
      }),
    ),
    compressions: lines.flatMap(({ fields }) => compressionIn(fields)),
  };
}

function linesOf(whole: string): Line[] {
  const lines: Line[] = [];
  let at = 0;
  for (const line of whole.split('\n')) {
    const fields = parsed(line);
    if (fields.isSidechain !== true) {
      const { content } = object(fields.message);
      const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : list(content).map(object);
      lines.push({ at, fields, parts });
    }
    at += line.length + 1;
  }
  return lines;
}

function textIn(parts: readonly Fields[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? (text(part.text) ?? []) : [])).join('');
}

const isResult = ({ parts }: Line) => parts.some(({ type }) => type === 'tool_result');

/** Begins what `isMeta` marks as the next prompt of a turn's end; it marks a message of the inbox socket, too, and remarks of the host. */
const feedback = 'Stop hook feedback:\n';

function isPrompt(line: Line): boolean {
  const { fields, parts } = line;
  if (fields.type !== 'user' || isResult(line)) return false;
  const said = textIn(parts);
  if (fields.isMeta === true) return said.startsWith(feedback) || object(fields.origin).kind === 'peer';
  return !interrupted.test(said) && fields.isCompactSummary !== true;
}

/** The last message with a text, from all of its lines. */
function answerOf(lines: readonly Line[], last: Line): string {
  const idOf = ({ fields }: Line) => text(object(fields.message).id);
  const id = idOf(last);
  const same = id === undefined ? [last] : lines.filter((line) => idOf(line) === id);
  return same.map(({ parts }) => textIn(parts)).join('');
}

/** Texts that hooks added to a prompt or to the result of a tool stand in lines of their own. */
function addedBy({ type, attachment }: Fields): string[] {
  const { type: kind, content } = object(attachment);
  if (type !== 'attachment' || kind !== 'hook_additional_context') return [];
  return list(content).flatMap((each) => text(each) ?? []);
}

function usageOf(fields: Fields): number | undefined {
  const { input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens } = object(
    object(fields.message).usage,
  );
  if (typeof input_tokens !== 'number' || typeof output_tokens !== 'number') return undefined;
  const cached = (Number(cache_creation_input_tokens) || 0) + (Number(cache_read_input_tokens) || 0);
  return input_tokens + cached + output_tokens;
}

/** Only the program knows windows; these are what `/context` shows for each model of that name. An older model has one of two. */
const windowTokens = 1_000_000;
const hasWindow = /^claude-(fable|haiku|opus|sonnet)-5-\d/;

function shareOf({ message }: Fields): number | undefined {
  const { model, usage } = object(message);
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens } = object(usage);
  if (!hasWindow.test(text(model) ?? '') || typeof input_tokens !== 'number') return undefined;
  const cached = (Number(cache_creation_input_tokens) || 0) + (Number(cache_read_input_tokens) || 0);
  return (input_tokens + cached) / windowTokens;
}

/** The working directory of a payload moves with the shell; that of the first line that has one does not. */
export function sessionFolder(head: string): string | undefined {
  for (const line of head.split('\n')) {
    const cwd = text(parsed(line).cwd);
    if (cwd !== undefined) return cwd;
  }
  return undefined;
}

/** A call stands in a line of the model, and what became of the call in a later line of the user. */
function toolsIn(lines: readonly Line[], prompt: number): { tools: RanTool[]; openFrom: number | undefined } {
  const tools: RanTool[] = [];
  const open = new Map<string, { at: number; index: number; tool: string; input: Fields }>();
  for (const [index, { at, fields, parts }] of lines.entries()) {
    for (const { type, id, name, input, tool_use_id, is_error } of parts) {
      if (type === 'tool_use' && typeof id === 'string' && typeof name === 'string')
        open.set(id, { at, index, tool: name, input: object(input) });
      if (type !== 'tool_result' || typeof tool_use_id !== 'string') continue;
      const call = open.get(tool_use_id);
      open.delete(tool_use_id);
      if (call && is_error !== true)
        tools.push({
          id: tool_use_id,
          tool: call.tool,
          input: call.input,
          at: Date.parse(String(fields.timestamp)) || 0,
        });
    }
  }
  // An older call has lost its result with its process.
  const openFrom = [...open.values()].find(({ index }) => index > prompt)?.at;
  return { tools, openFrom };
}

/** The host tells of a compression that a person asked for by an event. */
function compressionIn({ type, subtype, compactMetadata, uuid }: Fields): string[] {
  if (type !== 'system' || subtype !== 'compact_boundary' || object(compactMetadata).trigger === 'manual') return [];
  return [text(uuid) ?? ''];
}
