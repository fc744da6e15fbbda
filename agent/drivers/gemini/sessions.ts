// The session files of Gemini CLI: `tmp/<name of the project>/chats/session-*.jsonl`, append-only with patches, and the older
// `session-*.json`, which is one document. Source: recorded files in test/fixtures/gemini-0.61.0.

import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { filesBelow, isInside, namesBelow, pathBelow, readBelow } from '../../fs/below.ts';
import { list, object, parsed, text, timeOf } from '../fields.ts';
import type { FoundSession, LineReader, SessionEvent, SessionFiles, SessionPlace } from '../sessions.ts';

export const geminiSessions: SessionFiles = {
  find,
  reader: createReader,
  startsOver: (line) => line.startsWith('{"$set"') && line.includes('"messages"'),
  resumeArgs: (id) => ['--resume', id],
  removal: { paths },
};

const isSession = (name: string) => /^session-[\w.-]+\.jsonl?$/.test(name);
const rootFileBytes = 8 * 1024;

async function find({ home, env, within }: SessionPlace): Promise<FoundSession[]> {
  const projects = await pathBelow(join(env.GEMINI_CLI_HOME || home, '.gemini', 'tmp'));
  const found: FoundSession[] = [];
  for (const name of await namesBelow(projects, (each) => /^[\w-]+$/.test(each))) {
    const folder = join(projects, name);
    // A link, or no folder.
    const dir = await rootOf(folder, within).catch(() => null);
    if (dir === null || (within !== undefined && (dir === undefined || !isInside(dir, within)))) continue;
    const chats = join(folder, 'chats');
    const files = await filesBelow(chats, isSession).catch(() => []);
    found.push(...files.map((file) => ({ ...file, path: join(chats, file.name), dir })));
  }
  return found;
}

/** The project of a folder: from the file that the CLI writes, or in older versions by the name, which was a hash of the project. */
async function rootOf(folder: string, within: string | undefined): Promise<string | undefined> {
  const file = await readBelow(join(folder, '.project_root'), rootFileBytes);
  const root = file?.bytes.toString('utf8').trim();
  if (root) return root;
  return within !== undefined && basename(folder) === createHash('sha256').update(within).digest('hex')
    ? within
    : undefined;
}

/** The agent keeps what belongs to a session in folders of its name, and opens one file of the same session after another. */
async function paths({ id, path }: { id: string; path: string }): Promise<string[]> {
  const folder = dirname(dirname(path));
  const chats = join(folder, 'chats');
  const same = await namesBelow(chats, (name) => isSession(name) && name.includes(`-${id.slice(0, 8)}.`));
  const more = [join('logs', `session-${id}.jsonl`), join('tool-outputs', `session-${id}`), id, join('chats', id)];
  return [...new Set([path, ...same.map((name) => join(chats, name)), ...more.map((name) => join(folder, name))])];
}

/**
 * A message whose tools have run stands twice, with the same id. A list of messages in a patch (`$set`) replaces the whole history:
 * after a resume, a summary and a cancel; the first such list of a start holds nothing but the agent's own context.
 */
function createReader(): LineReader {
  let known = createMarks();
  /** The tokens of a message are spent once, however often the history is written. */
  const spent = createMarks();
  const fresh = (value: Record<string, unknown>) =>
    messageEvents(value).filter((event) => {
      if (event.type === 'usage') return spent(`${event.id} ${event.tokens}`);
      return known(`${event.type} ${'id' in event ? event.id : text(value.id)}`);
    });
  return (line) => {
    const value = parsed(line);
    if (typeof value.$rewindTo === 'string') return [{ type: 'rewound' }];
    if (typeof value.type === 'string') return fresh(value);
    const { messages, summary } = object(value.$set ?? value);
    const events: SessionEvent[] = [];
    if (typeof value.sessionId === 'string') {
      const { sessionId: id, startTime, kind } = value;
      events.push({ type: 'session', id, at: timeOf(startTime), subAgent: kind === 'subagent' });
    }
    if (typeof summary === 'string' && summary !== '') events.push({ type: 'title', text: summary, by: 'agent' });
    if (!Array.isArray(messages)) return events;
    known = createMarks();
    return [{ type: 'rewritten' }, ...events, ...messages.flatMap((message) => fresh(object(message)))];
  };
}

/** What the agent patches it wrote shortly before. */
const maxKnown = 10_000;

/** True for a mark that is new, or was last seen very long ago. */
function createMarks(): (mark: string) => boolean {
  let [recent, older] = [new Set<string>(), new Set<string>()];
  return (mark) => {
    const isNew = !recent.has(mark) && !older.has(mark);
    recent.add(mark);
    if (recent.size >= maxKnown) [recent, older] = [new Set(), recent];
    return isNew;
  };
}

function messageEvents(value: Record<string, unknown>): SessionEvent[] {
  const at = timeOf(value.timestamp);
  const parts = (Array.isArray(value.content) ? value.content : [{ text: value.content }]).map(object);
  const said = parts.flatMap((part) => (part.thought === true ? [] : (text(part.text) ?? []))).join('');
  switch (value.type) {
    case 'user': {
      const asked = promptOf(parts);
      return [
        ...parts.flatMap((part) => resultOf(part, at)),
        ...(asked ? [{ type: 'prompt', at, text: asked } as const] : []),
      ];
    }
    case 'gemini': {
      const { total } = object(value.tokens);
      return [
        ...thoughts(value.thoughts, parts, at),
        ...(said.trim() ? [{ type: 'answer', at, text: said, model: text(value.model) } as const] : []),
        ...parts.flatMap((part) => toolOf(object(part.functionCall), at)),
        ...list(value.toolCalls).flatMap((call) => calledTool(object(call), at)),
        ...(typeof total === 'number' ? [{ type: 'usage', id: text(value.id) ?? '', tokens: total } as const] : []),
      ];
    }
    case 'error':
      return said ? [{ type: 'error', at, text: said }] : [];
    default:
      return [];
  }
}

/** Without the text of hooks and of the agent itself, in which `<` is written as `&lt;`. */
function promptOf(parts: readonly Record<string, unknown>[]): string {
  return parts
    .flatMap((part) => text(part.text) ?? [])
    .map((part) => part.replace(/^<(hook|session)_context>.*?(<\/\1_context>\s*|$)/s, ''))
    .join('')
    .trim();
}

function thoughts(value: unknown, parts: readonly Record<string, unknown>[], at: number | undefined): SessionEvent[] {
  const told = list(value).map((each) => {
    const { subject, description } = object(each);
    return [text(subject), text(description)].filter(Boolean).join(': ');
  });
  const inParts = parts.flatMap((part) => (part.thought === true ? (text(part.text) ?? []) : []));
  const all = [...told, ...inParts].filter((each) => each.trim() !== '').join('\n');
  return all ? [{ type: 'thought', at, text: all }] : [];
}

function toolOf({ id, name, args }: Record<string, unknown>, at: number | undefined): SessionEvent[] {
  if (typeof id !== 'string' || typeof name !== 'string') return [];
  return [{ type: 'tool', at, id, tool: name, input: object(args) }];
}

function calledTool(call: Record<string, unknown>, said: number | undefined): SessionEvent[] {
  const at = timeOf(call.timestamp) ?? said;
  return [...toolOf(call, at), ...list(call.result).flatMap((part) => resultOf(object(part), at, call.status))];
}

/** The same result stands in the call and in the message that follows. */
function resultOf(part: Record<string, unknown>, at: number | undefined, status?: unknown): SessionEvent[] {
  const { id, response } = object(part.functionResponse);
  if (typeof id !== 'string') return [];
  const { output, error } = object(response);
  const ok = error === undefined && (status === undefined || status === 'success');
  return [{ type: 'result', at, id, ok, text: text(output ?? error) ?? JSON.stringify(output ?? error ?? '') }];
}
