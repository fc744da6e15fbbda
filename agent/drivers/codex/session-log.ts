// Reads the lines of a Codex session file (rollout, append-only JSONL). Pure; the hook fallback bundles it.
// Source: recorded files in test/fixtures/codex-0.169.0.

import type { RanTool, SessionRecord } from '../driver.ts';
import { list, object, text } from '../fields.ts';
import { patchInput, patchTool } from './tools.ts';

type Line = Record<string, unknown>;

/** What a line says, one field of these at most. */
interface Said {
  prompt?: string;
  /** A prompt that is no prompt of a person or of the queue: added by a hook, or the next prompt of the end of a turn. */
  added?: string;
  answer?: string;
  id?: string | undefined;
  error?: string;
  cancelled?: true;
  begins?: true;
  completes?: true;
}

export function readSession(whole: string): SessionRecord {
  const lines = whole
    .split('\n')
    .map(parse)
    .filter((line) => line !== undefined);
  const said = lines.map(saidIn);
  const last = said.findLastIndex(({ prompt }) => prompt !== undefined);
  const after = said.slice(last + 1);
  const context = lines.map(usageIn).findLast((usage) => usage !== undefined);
  const answered = after.findLast(({ answer }) => answer !== undefined && answer.trim() !== '');
  const error = after.findLast((each) => each.error !== undefined)?.error;
  return {
    prompts: said.flatMap(({ prompt, added }) => prompt ?? added ?? []),
    answer: answered?.answer,
    isAnswered: answered !== undefined && after.some(({ completes }) => completes),
    error,
    isOver: error !== undefined && after.at(-1)?.begins === undefined,
    cancelled: after.some(({ cancelled }) => cancelled === true),
    model: lines.flatMap((line) => text(lineOf(line, 'turn_context').model) ?? []).at(-1),
    contextShare: context,
    lastId: (after.findLast(({ answer }) => answer !== undefined) ?? said.findLast(({ id }) => id !== undefined))?.id,
    tools: lines.flatMap(toolIn),
    tokens: new Map(lines.flatMap(tokensIn)),
    compressions: lines.flatMap((line) => text(lineOf(line, 'compacted').message) ?? []),
  };
}

/** The folder in which the session began: a hook's `cwd` is the folder of the command at hand. */
export function sessionFolder(head: string): string | undefined {
  const line = parse(head.split('\n', 1)[0] ?? '');
  return line && text(lineOf(line, 'session_meta').cwd);
}

function parse(line: string): Line | undefined {
  try {
    return object(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** The payload of a line of this type; empty for another. */
function lineOf({ type, payload }: Line, wanted: string): Line {
  return type === wanted ? object(payload) : {};
}

function saidIn(line: Line): Said {
  const item = lineOf(line, 'response_item');
  if (item.type === 'message') return messageIn(item);
  const event = lineOf(line, 'event_msg');
  if (event.type === 'task_started') return { begins: true };
  if (event.type === 'turn_aborted') return { cancelled: true };
  const failed = text(object(event.error).message);
  if (event.type !== 'task_complete') return {};
  return failed === undefined ? { completes: true } : { error: errorText(failed) };
}

function messageIn({ id, role, content, internal_chat_message_metadata_passthrough: about }: Line): Said {
  const whole = list(content).flatMap((part) => text(object(part).text) ?? []);
  const said = { id: text(id) };
  if (role === 'assistant') return { ...said, answer: whole.join('') };
  const [from = {}] = list(object(about).content_item_metadata).map((each) => object(object(each).provenance));
  const isHook = from.hook === true;
  if (role === 'developer') return isHook ? { ...said, added: whole.join('\n') } : said;
  // The host describes the folder, and an interruption, in the name of the user.
  if (role !== 'user' || (from.type === 'harness' && !isHook)) return said;
  return { ...said, prompt: whole.join('\n') };
}

/** The text of an API's answer is its JSON. */
function errorText(message: string): string {
  const inner = object(object(parse(message)).error);
  return text(inner.message) ?? message;
}

/** Calls that ran and did not fail; of a patch with several files, a tool as the gate has seen it. */
function toolIn(line: Line): RanTool[] {
  const event = lineOf(line, 'event_msg');
  const { type, id, status, command, changes } = object(event.item);
  const at = event.completed_at_ms;
  if (event.type !== 'item_completed' || status !== 'completed' || typeof id !== 'string') return [];
  const ran = { id, at: typeof at === 'number' ? at : 0 };
  const shown = list(command).at(-1);
  if (type === 'CommandExecution' && typeof shown === 'string')
    return [{ ...ran, tool: 'Bash', input: { command: shown } }];
  const files = Object.keys(object(changes));
  return type === 'FileChange' ? [{ ...ran, tool: patchTool, input: { ...patchInput(''), files } }] : [];
}

function tokensIn(line: Line): [id: string, tokens: number][] {
  const { response_id: id, usage } = lineOf(line, 'token_usage_record');
  const total = object(usage).total_tokens;
  return typeof id === 'string' && typeof total === 'number' ? [[id, total]] : [];
}

function usageIn(line: Line): number | undefined {
  const { type, info } = lineOf(line, 'event_msg');
  const { last_token_usage: last, model_context_window: window } = object(info);
  const input = object(last).input_tokens;
  if (type !== 'token_count' || typeof input !== 'number' || typeof window !== 'number' || window <= 0)
    return undefined;
  return input / window;
}
