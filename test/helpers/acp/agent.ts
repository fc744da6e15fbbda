// A scripted coding agent that speaks ACP v1 on stdio, run by Node. The text of a prompt says what it does: `[[verb: argument]]`, in
// order, each as often as it stands there (verbs.ts); a prompt without one is answered with "ok". ACP_STYLE = the agent whose habits
// and faults it has (gemini, claude, codex, or none). Keeps its sessions as files, so that a later process can open them again.

import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { run, type Turn } from './verbs.ts';

export type Json = Record<string, unknown>;

export interface Session {
  id: string;
  cwd: string;
  title: string;
  updatedAt: string;
  mode: string;
  model: string;
  history: { role: 'user' | 'agent'; text: string }[];
}

const env = process.env;
export const style = env.ACP_STYLE ?? 'plain';
/** Words, separated by commas: `logged-out`, `deaf` (to SIGTERM and the end of stdin), `silent` and `v9` (at the handshake), `dead`, `bad-key`, `no-way-back` (to the model `small`), `old` (no notices, no failures). */
/** Methods that it never answers. */
const unanswered = (env.ACP_NO_ANSWER ?? '').split(',');
export const faults = new Set((env.ACP_FAULTS ?? '').split(','));
const folder = env.ACP_SESSIONS ?? join(env.TMPDIR ?? '/tmp', `acp-agent-${process.pid}`);
const sessions = new Map<string, Session>();
const turns = new Map<string, Turn>();
/** What ends the commands that outlive their turn, by session; each resolves when its command is gone. */
export const leftBehind = new Map<string, (() => Promise<unknown>)[]>();
let requests = 0;
let turnsMade = 0;
const waiting = new Map<number, (answer: Json) => void>();
export const client = { notices: false, failures: false, forms: false };

const modes: Record<string, string[]> = {
  gemini: ['default', 'autoEdit', 'yolo', 'plan'],
  claude: ['default', 'acceptEdits', 'plan', 'bypassPermissions'],
  codex: ['read-only', 'workspace-write', 'agent', 'agent-full-access'],
  plain: ['ask', 'all'],
};
const models = ['small', 'large'];

/**
 * ACP_LEDGER = a file that gets a line for each prompt that the model has, each tool that runs, each answer and the end of each turn, before anybody can
 * see a sign of it. `at` = milliseconds of the machine's monotonic clock.
 */
export function note(what: string, more: Json = {}): void {
  if (!env.ACP_LEDGER) return;
  const at = Number(process.hrtime.bigint()) / 1e6;
  appendFileSync(env.ACP_LEDGER, `${JSON.stringify({ what, at, pid: process.pid, mark: env.WA_OWNED, ...more })}\n`);
}

export function send(message: Json): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

export function update(sessionId: string, change: Json): void {
  send({ method: 'session/update', params: { sessionId, update: change } });
}

/** Resolves with the whole response. */
export function ask(method: string, params: Json): { id: number; answer: Promise<Json> } {
  const id = requests++;
  const answer = new Promise<Json>((resolve) => waiting.set(id, resolve));
  send({ id, method, params });
  return { id, answer };
}

export function save(session: Session): void {
  mkdirSync(folder, { recursive: true });
  session.updatedAt = new Date().toISOString();
  writeFileSync(join(folder, `${session.id}.json`), JSON.stringify(session));
}

function stored(id: string): Session | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, `${id}.json`), 'utf8'));
  } catch {
    return undefined;
  }
}

class Refused extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

function stateOf(session: Session): Json {
  const choice = (id: string, category: string, current: string, values: string[]) => ({
    id,
    name: id,
    category,
    type: 'select',
    currentValue: current,
    options: values.map((value) => ({ value, name: value })),
  });
  const own = modes[style] ?? [];
  return {
    modes: { currentModeId: session.mode, availableModes: own.map((id) => ({ id, name: `Mode ${id}` })) },
    ...(style === 'gemini'
      ? {
          models: {
            currentModelId: session.model,
            availableModels: models.map((modelId) => ({ modelId, name: modelId })),
          },
        }
      : {
          configOptions: [choice('mode', 'mode', session.mode, own), choice('model', 'model', session.model, models)],
        }),
  };
}

function listCommands(id: string): void {
  const availableCommands = [{ name: 'plan', description: 'Turn plan mode on.' }, { name: 'status' }];
  update(id, { sessionUpdate: 'available_commands_update', availableCommands });
}

function opened(params: Json): Session {
  const id = String(params.sessionId);
  const session = sessions.get(id) ?? stored(id);
  if (!session) throw new Refused(style === 'gemini' ? -32603 : -32002, `Invalid session identifier "${id}"`);
  sessions.set(id, session);
  return session;
}

/** As Gemini CLI: one chunk before the response, the rest after it, and the commands last. */
function replay(session: Session): Json {
  const chunk = (role: 'user' | 'agent', text: string) =>
    update(session.id, { sessionUpdate: `${role}_message_chunk`, content: { type: 'text', text } });
  const [first, ...rest] = [
    { role: 'user' as const, text: '<session_context>\nold\n</session_context>' },
    ...session.history,
  ];
  if (first) chunk(first.role, first.text);
  setTimeout(() => {
    for (const { role, text } of rest) chunk(role, text);
    listCommands(session.id);
  }, 20);
  return stateOf(session);
}

const methods: Record<string, (params: Json) => unknown> = {
  initialize(params) {
    const { session, _meta, elicitation } = (params.clientCapabilities ?? {}) as Record<string, Json>;
    const air = (_meta?.jetbrains as Json)?.air as { capabilities?: string[] } | undefined;
    client.notices = !faults.has('old') && session?.notices !== undefined;
    client.failures = !faults.has('old') && (air?.capabilities ?? []).includes('sessionFailure');
    client.forms = elicitation?.form !== undefined;
    if (faults.has('silent')) return new Promise(() => {});
    const isFull = style !== 'gemini' && !env.ACP_NO_RESUME;
    return {
      protocolVersion: faults.has('v9') ? 9 : 1,
      agentInfo: { name: `scripted-${style}`, version: '1.2.3' },
      authMethods: [
        { id: 'gemini-api-key', name: 'API key' },
        { id: 'oauth-personal', name: 'Login' },
      ],
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true },
        ...(isFull ? { sessionCapabilities: { list: {}, resume: {}, close: {} } } : {}),
      },
      ...(style === 'claude' || style === 'codex' ? { _meta: { steering: { supported: true } } } : {}),
    };
  },
  authenticate(params) {
    if (params.methodId !== 'gemini-api-key' || faults.has('bad-key'))
      throw new Refused(-32000, 'Authentication failed');
    faults.delete('logged-out');
    return {};
  },
  'session/new'(params) {
    if (faults.has('logged-out') && style !== 'claude') throw new Refused(-32000, 'Authentication required');
    const session: Session = {
      id: crypto.randomUUID(),
      cwd: String(params.cwd),
      title: '',
      updatedAt: '',
      mode: style === 'codex' ? (env.INITIAL_AGENT_MODE ?? 'agent') : (modes[style]?.[0] ?? ''),
      model: models[0] ?? '',
      history: [],
    };
    sessions.set(session.id, session);
    save(session);
    setImmediate(() => listCommands(session.id));
    return { sessionId: session.id, ...stateOf(session) };
  },
  'session/load': (params) => replay(opened(params)),
  'session/resume'(params) {
    if (style === 'gemini') throw new Refused(-32601, 'Method not found');
    const session = opened(params);
    setImmediate(() => listCommands(session.id));
    return stateOf(session);
  },
  'session/list'() {
    if (style === 'gemini') throw new Refused(-32601, 'Method not found');
    const all = readdirSync(folder).flatMap((name) => stored(name.replace('.json', '')) ?? []);
    all.sort((a, b) => a.updatedAt.localeCompare(b.updatedAt));
    return { sessions: all.map(({ id, cwd, title, updatedAt }) => ({ sessionId: id, cwd, title, updatedAt })) };
  },
  async 'session/close'(params) {
    const id = String(params.sessionId);
    const left = leftBehind.get(id) ?? [];
    leftBehind.delete(id);
    await Promise.all(left.map((end) => end()));
    sessions.delete(id);
    return {};
  },
  'session/set_mode'(params) {
    const session = opened(params);
    if (!modes[style]?.includes(String(params.modeId))) throw new Refused(-32602, `No mode ${params.modeId}`);
    session.mode = String(params.modeId);
    save(session);
    if (style === 'gemini') {
      const text = `[MODE_UPDATE] ${session.mode}`;
      update(session.id, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
    }
    return {};
  },
  'session/set_model'(params) {
    const session = opened(params);
    session.model = String(params.modelId);
    save(session);
    return {};
  },
  'session/set_config_option'(params) {
    const session = opened(params);
    const { configId, value } = params;
    if (configId === 'model' && !models.includes(String(value))) throw new Refused(-32602, `No model ${value}`);
    if (configId === 'model' && faults.has('no-way-back') && value === 'small')
      throw new Refused(-32602, 'Unknown model');
    if (configId === 'model') session.model = String(value);
    if (configId === 'mode') session.mode = String(value);
    save(session);
    const { configOptions } = stateOf(session);
    update(session.id, { sessionUpdate: 'config_option_update', configOptions });
    return { configOptions };
  },
  '_session/steering'(params) {
    if (style !== 'claude' && style !== 'codex') throw new Refused(-32601, 'Method not found');
    const turn = turns.get(String(params.sessionId));
    if (!turn) return { outcome: 'promptRequired', reason: 'noRunningTurn' };
    note('steered', { turn: turn.id, text: textOf(params.prompt) });
    turn.steered(textOf(params.prompt));
    return { outcome: 'injected' };
  },
  async 'session/prompt'(params) {
    if (faults.has('logged-out') && style === 'claude') throw new Refused(-32000, 'Authentication required');
    const session = opened(params);
    const before = turns.get(session.id);
    // Gemini CLI ends the first; the others queue.
    if (before && style === 'gemini') before.cancel();
    await before?.done;
    const parts = (params.prompt as Json[]) ?? [];
    return runTurn(session, parts);
  },
};

async function runTurn(session: Session, parts: Json[]): Promise<Json> {
  const text = textOf(parts);
  session.title ||= text.slice(0, 80);
  session.history.push({ role: 'user', text });
  save(session);
  let cancel = () => {};
  const cancelled = new Promise<void>((resolve) => {
    cancel = resolve;
  });
  let end = () => {};
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  const id = `t-${env.WA_OWNED?.slice(0, 8)}-${++turnsMade}`;
  const turn: Turn = { id, session, parts, text, said: '', cancelled, cancel, done, steered: () => {}, afterwards: [] };
  turns.set(session.id, turn);
  try {
    return await run(turn);
  } finally {
    if (turn.said) session.history.push({ role: 'agent', text: turn.said });
    save(session);
    turns.delete(session.id);
    note('end', { turn: id });
    end();
    // Once the response is out.
    setImmediate(() => {
      for (const step of turn.afterwards) step();
    });
  }
}

function textOf(parts: unknown): string {
  return ((parts ?? []) as Json[]).map((part) => (typeof part.text === 'string' ? part.text : '')).join('\n');
}

async function receive(message: Json): Promise<void> {
  const { id, method, params } = message;
  if (typeof method !== 'string') {
    waiting.get(Number(id))?.(message);
    waiting.delete(Number(id));
    return;
  }
  if (method === 'session/cancel') return turns.get(String((params as Json).sessionId))?.cancel();
  const handler = methods[method];
  if (id === undefined) return;
  if (unanswered.includes(method)) return;
  try {
    if (!handler) throw new Refused(-32601, `Method not found: ${method}`);
    send({ id, result: (await handler((params ?? {}) as Json)) ?? {} });
  } catch (error) {
    const { code = -32603, message: text, data } = error as { code?: number; message: string; data?: unknown };
    send({ id, error: { code, message: text, ...(data ? { data } : {}) } });
  }
}

if (faults.has('dead')) {
  process.stderr.write('Cannot find the configuration file\n');
  process.exit(41);
}
note('start', { style });
if (faults.has('deaf')) process.on('SIGTERM', () => {});
const input = createInterface({ input: process.stdin });
input.on('line', (line) => {
  receive(JSON.parse(line)).catch((error) => process.stderr.write(`${error.stack}\n`));
});
input.on('close', () => {
  if (faults.has('deaf')) setInterval(() => {}, 60_000);
  else process.exit(0);
});
