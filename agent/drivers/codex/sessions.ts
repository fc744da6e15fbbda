// The session files of Codex: `sessions/<year>/<month>/<day>/rollout-<time>-<thread>.jsonl`. Source: recorded file in
// test/fixtures/codex-0.169.0.

import { join } from 'node:path';
import { filesBelow, namesBelow, pathBelow } from '../../fs/below.ts';
import { list, object, parsed, text, timeOf } from '../fields.ts';
import type { FoundSession, LineReader, SessionEvent, SessionFiles, SessionPlace } from '../sessions.ts';

export const codexSessions: SessionFiles = {
  find,
  reader: createReader,
  resumeArgs: (id) => ['resume', id],
  // The agent has an index of its sessions, too.
  removal: { args: (id) => ['delete', '--force', id] },
};

const isSession = (name: string) => /^rollout-[\w.:-]+\.jsonl$/.test(name);
const isNumber = (name: string) => /^\d{2,4}$/.test(name);

async function find({ home, env }: SessionPlace): Promise<FoundSession[]> {
  const sessions = await pathBelow(join(env.CODEX_HOME || join(home, '.codex'), 'sessions'));
  const days = await foldersBelow(await foldersBelow(await foldersBelow([sessions])));
  const found: FoundSession[] = [];
  for (const day of days) {
    const files = await filesBelow(day, isSession).catch(() => []);
    found.push(...files.map((file) => ({ ...file, path: join(day, file.name), dir: undefined })));
  }
  return found;
}

async function foldersBelow(folders: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const folder of folders) {
    found.push(...(await namesBelow(folder, isNumber).catch(() => [])).map((name) => join(folder, name)));
  }
  return found;
}

function createReader(): LineReader {
  /** Of the turn that the lines belong to. */
  let model: string | undefined;
  return (line) => {
    const { type, payload, timestamp } = parsed(line);
    const value = object(payload);
    if (type === 'turn_context') model = text(value.model) ?? model;
    return events(type, value, timeOf(timestamp)).map((event) =>
      event.type === 'answer' ? { ...event, model } : event,
    );
  };
}

function events(type: unknown, value: Record<string, unknown>, at: number | undefined): SessionEvent[] {
  switch (type) {
    case 'session_meta':
      return [{ type: 'session', id: text(value.id), dir: text(value.cwd), at, subAgent: isOfAgent(value) }];
    case 'response_item':
      return itemEvents(value, at);
    case 'event_msg':
      return noticed(value, at);
    case 'token_usage_record': {
      const { total_tokens: tokens } = object(value.usage);
      return typeof tokens === 'number' ? [{ type: 'usage', id: text(value.response_id) ?? '', tokens }] : [];
    }
    default:
      return [];
  }
}

function isOfAgent({ source, thread_source }: Record<string, unknown>): boolean {
  return thread_source === 'subagent' || object(source).subagent !== undefined;
}

function itemEvents(item: Record<string, unknown>, at: number | undefined): SessionEvent[] {
  const { type, call_id: call } = item;
  const id = text(call) ?? text(item.id) ?? '';
  const said = textOf(item.content);
  switch (type) {
    case 'message': {
      if (item.role === 'assistant') return said.trim() ? [{ type: 'answer', at, text: said }] : [];
      const asked = item.role === 'user' ? promptOf(item, said) : '';
      return asked ? [{ type: 'prompt', at, text: asked }] : [];
    }
    case 'reasoning': {
      const thought = textOf(item.summary) || said;
      return thought.trim() ? [{ type: 'thought', at, text: thought }] : [];
    }
    case 'function_call':
    case 'custom_tool_call':
    case 'local_shell_call': {
      const input = item.arguments ?? item.input ?? item.action;
      return [{ type: 'tool', at, id, tool: text(item.name) ?? 'shell', input: inputOf(input) }];
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [{ type: 'result', at, id, ...resultOf(item.output) }];
    default:
      return [];
  }
}

/** Prompts of a person and of hooks; the agent's own texts have the same role. */
function promptOf(item: Record<string, unknown>, said: string): string {
  const { content_item_metadata: origins } = object(item.internal_chat_message_metadata_passthrough);
  const kinds = list(origins).map((each) => text(object(object(each).provenance).type));
  const ofHook = /^<hook_prompt[^>]*>(.*?)(<\/hook_prompt>|$)/s.exec(said)?.[1];
  if (ofHook !== undefined) return ofHook.trim();
  const isOwn = kinds.length > 0 ? !kinds.includes('user') : /^<(environment_context|user_instructions)>/.test(said);
  return isOwn ? '' : said.trim();
}

function textOf(content: unknown): string {
  return list(content)
    .flatMap((part) => text(object(part).text) ?? [])
    .join('\n');
}

/** Arguments are a JSON text, or the text of a patch. */
function inputOf(value: unknown): Record<string, unknown> {
  if (typeof value !== 'string') return object(value);
  const fields = parsed(value);
  return Object.keys(fields).length > 0 ? fields : { input: value };
}

function resultOf(output: unknown): { ok: boolean; text: string } {
  const said = text(output) ?? text(object(output).content) ?? textOf(output);
  const failed = object(output).success === false || /^Process exited with code [1-9]/m.test(said.slice(0, 1_000));
  return { ok: !failed, text: said };
}

function noticed(
  { type, message, thread_name: name }: Record<string, unknown>,
  at: number | undefined,
): SessionEvent[] {
  if (type === 'error' || type === 'stream_error')
    return [{ type: 'error', at, text: text(message) ?? 'unknown error' }];
  return type === 'thread_name_updated' && text(name) ? [{ type: 'title', text: text(name) ?? '', by: 'person' }] : [];
}
