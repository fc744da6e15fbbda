// The session files of Claude Code: `projects/<folder of the project>/<session>.jsonl`, one line per content block; the sub-agents of
// a session have files of their own in a folder beside it. Source: recorded file in test/fixtures/claude-2.1.329.

import { join } from 'node:path';
import { filesBelow, namesBelow, pathBelow, readBelow } from '../../fs/below.ts';
import { isAlive } from '../../process.ts';
import { list, object, parsed, text, timeOf } from '../fields.ts';
import type { FoundSession, LineReader, SessionEvent, SessionFiles, SessionPlace } from '../sessions.ts';

export const claudeSessions: SessionFiles = {
  find,
  reader: () => read,
  open,
  resumeArgs: (id) => ['--resume', id],
  removal: { paths: async ({ path }) => [path, path.slice(0, -'.jsonl'.length)] },
};

const isSession = (name: string) => /^[0-9a-f]{8}-[0-9a-f-]{27}\.jsonl$/.test(name);
/** The agent cuts longer names of folders. */
const keptChars = 200;

async function find({ home, env, within }: SessionPlace): Promise<FoundSession[]> {
  const projects = await pathBelow(join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'projects'));
  const name = within === undefined ? '' : nameOf(within);
  const found: FoundSession[] = [];
  // Several folders may have one name: the file says which.
  for (const folder of await namesBelow(projects, (each) => nameOf(each).startsWith(name))) {
    const dir = join(projects, folder);
    const files = await filesBelow(dir, isSession).catch(() => []);
    found.push(...files.map((file) => ({ ...file, path: join(dir, file.name), dir: undefined })));
  }
  return found;
}

const processFileBytes = 64 * 1024;

/** The agent keeps a file for each of its processes. */
async function open({ home, env }: Omit<SessionPlace, 'within'>): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  try {
    const folder = await pathBelow(join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'sessions'));
    for (const name of await namesBelow(folder, (each) => /^\d{1,10}\.json$/.test(each))) {
      if (!isAlive(Number.parseInt(name, 10))) continue;
      const file = await readBelow(join(folder, name), processFileBytes);
      const id = text(parsed(file?.bytes.toString('utf8') ?? '').sessionId);
      if (id !== undefined) ids.add(id);
    }
  } catch {
    // What cannot be read names no session.
  }
  return ids;
}

function nameOf(dir: string): string {
  return dir.replace(/[^A-Za-z0-9]/g, '-').slice(0, keptChars);
}

const read: LineReader = (line) => {
  const value = parsed(line);
  // A sub-agent, in files of older versions.
  if (value.isSidechain === true) return [];
  const at = timeOf(value.timestamp);
  switch (value.type) {
    case 'user':
      return [...sessionOf(value, at), ...userEvents(value, at)];
    case 'assistant':
      return [...sessionOf(value, at), ...assistantEvents(value, at)];
    case 'custom-title':
      return titled(value.customTitle, 'person');
    case 'ai-title':
      return titled(value.aiTitle, 'agent');
    case 'summary':
      return titled(value.summary, 'agent');
    case 'cost-state':
      return typeof value.totalCostUSD === 'number' ? [{ type: 'cost', usd: value.totalCostUSD }] : [];
    default:
      return [];
  }
};

function sessionOf({ sessionId, cwd }: Record<string, unknown>, at: number | undefined): SessionEvent[] {
  return typeof cwd === 'string' ? [{ type: 'session', id: text(sessionId), dir: cwd, at }] : [];
}

function titled(value: unknown, by: 'person' | 'agent'): SessionEvent[] {
  return typeof value === 'string' && value !== '' ? [{ type: 'title', text: value, by }] : [];
}

/** A hook that goes on with a turn speaks in a line of the agent itself. */
const ofHook = 'Stop hook feedback:\n';

function userEvents(value: Record<string, unknown>, at: number | undefined): SessionEvent[] {
  if (value.isCompactSummary === true) return [];
  const { content } = object(value.message);
  const blocks = blocksOf(content);
  const said = textOf(blocks);
  const isOfHook = said.startsWith(ofHook);
  const asked = isOfHook ? said.slice(ofHook.length) : value.isMeta === true || isNote(said) ? '' : said;
  return [
    ...blocks.flatMap((block) => resultOf(block, at)),
    ...(asked.trim() ? [{ type: 'prompt', at, text: asked.trim() } as const] : []),
  ];
}

/** Output of a command that the person typed, which the model is shown. */
function isNote(said: string): boolean {
  return /^<(local-command-\w+|system-reminder)>/.test(said);
}

function assistantEvents(value: Record<string, unknown>, at: number | undefined): SessionEvent[] {
  const { id, content, model, usage } = object(value.message);
  const blocks = blocksOf(content);
  const said = textOf(blocks);
  if (value.isApiErrorMessage === true) return said ? [{ type: 'error', at, text: said }] : [];
  const thought = blocks.flatMap((block) => (block.type === 'thinking' ? (text(block.thinking) ?? []) : [])).join('\n');
  return [
    ...(thought.trim() ? [{ type: 'thought', at, text: thought } as const] : []),
    ...(said.trim() ? [{ type: 'answer', at, text: said, model: text(model) } as const] : []),
    ...blocks.flatMap((block) => toolOf(block, at)),
    ...(typeof id === 'string' ? [{ type: 'usage', id, tokens: tokensOf(object(usage)) } as const] : []),
  ];
}

function blocksOf(content: unknown): Record<string, unknown>[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : list(content).map(object);
}

function textOf(blocks: readonly Record<string, unknown>[]): string {
  return blocks.flatMap((block) => (block.type === 'text' ? (text(block.text) ?? []) : [])).join('\n');
}

function toolOf({ type, id, name, input }: Record<string, unknown>, at: number | undefined): SessionEvent[] {
  if (type !== 'tool_use' || typeof id !== 'string' || typeof name !== 'string') return [];
  return [{ type: 'tool', at, id, tool: name, input: object(input) }];
}

function resultOf(block: Record<string, unknown>, at: number | undefined): SessionEvent[] {
  const { type, tool_use_id: id, content, is_error: failed } = block;
  if (type !== 'tool_result' || typeof id !== 'string') return [];
  return [{ type: 'result', at, id, ok: failed !== true, text: textOf(blocksOf(content)) }];
}

/** Everything that the request read and wrote. */
function tokensOf(usage: Record<string, unknown>): number {
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens } = usage;
  return [input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens].reduce<number>(
    (sum, each) => sum + (typeof each === 'number' ? each : 0),
    0,
  );
}
