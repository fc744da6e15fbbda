// What the scripted ACP agent can be told to do in a turn, each verb one habit or fault that was measured at a real agent.

import { spawn } from 'node:child_process';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask, client, faults, type Json, leftBehind, note, type Session, send, style, update } from './agent.ts';

export interface Turn {
  /** Unlike that of any other turn, whichever process had it. */
  id: string;
  session: Session;
  parts: Json[];
  text: string;
  said: string;
  /** Resolves when the client cancels. */
  cancelled: Promise<void>;
  cancel(): void;
  /** Resolves when the turn has ended. */
  done: Promise<void>;
  steered(text: string): void;
  /** Run once the response is out. */
  afterwards: (() => void)[];
}

type End = { stopReason: string; [key: string]: unknown };
/** Undefined = the turn goes on. */
type Verb = (turn: Turn, argument: string) => End | undefined | Promise<End | undefined>;

let made = 0;
const text = (value: string) => ({ type: 'text', text: value });
const cancelledEnd: End = { stopReason: 'cancelled' };

function chunk(turn: Turn, value: string, kind = 'agent_message_chunk', withId = style !== 'gemini'): void {
  update(turn.session.id, {
    sessionUpdate: kind,
    content: text(value),
    ...(withId ? { messageId: `msg_${made}` } : {}),
  });
}

function say(turn: Turn, value: string): void {
  made++;
  turn.said += value;
  const half = Math.ceil(value.length / 2);
  chunk(turn, value.slice(0, half));
  if (value.length > half) chunk(turn, value.slice(half));
}

/** Asks first, except in a mode that allows all; then really runs it. */
const runCommand: Verb = async (turn, command) => {
  const id = `call_${++made}`;
  const { session } = turn;
  const tool = { toolCallId: id, title: command, kind: 'execute', rawInput: { command } };
  // Gemini CLI sends no tool_call before its question.
  if (style !== 'gemini') update(session.id, { sessionUpdate: 'tool_call', ...tool, status: 'pending' });
  const close = (status: string) => update(session.id, { sessionUpdate: 'tool_call_update', toolCallId: id, status });
  if (!['yolo', 'bypassPermissions', 'agent-full-access', 'all'].includes(session.mode)) {
    const options = [
      { optionId: 'yes', name: 'Yes, once', kind: 'allow_once' },
      { optionId: 'always', name: 'Yes, and do not ask again', kind: 'allow_always' },
      { optionId: 'no', name: 'No', kind: 'reject_once' },
    ];
    const chosen = await permission(turn, { ...tool, status: 'pending' }, options);
    if (chosen === 'cancelled') {
      if (style !== 'gemini') close('failed');
      return cancelledEnd;
    }
    if (chosen === 'no') {
      if (style !== 'gemini') close('failed');
      if (style === 'codex') return cancelledEnd;
      say(turn, 'That was refused. ');
      return undefined;
    }
  }
  return execute(turn, id, command, style === 'codex');
};

/** The id of the option, or `cancelled`. */
async function permission(turn: Turn, toolCall: Json, options: Json[]): Promise<string> {
  // The adapters do not repeat what their `tool_call` has said.
  const { status: _, kind: __, content, ...rest } = toolCall;
  const again = { ...rest, ...(style === 'claude' && content ? { content } : {}) };
  const shown = style === 'claude' || style === 'codex' ? again : toolCall;
  const { id, answer } = ask('session/request_permission', { sessionId: turn.session.id, toolCall: shown, options });
  // Claude and Codex withdraw the question themselves; Gemini CLI waits for the client.
  if (style === 'claude' || style === 'codex') {
    const first = await Promise.race([answer, turn.cancelled]);
    if (first) return outcomeOf(first);
    send({ method: '$/cancel_request', params: { requestId: id } });
    return 'cancelled';
  }
  return outcomeOf(await answer);
}

function outcomeOf(answer: Json): string {
  const { outcome } = (answer.result as { outcome?: { outcome: string; optionId?: string } }) ?? {};
  return outcome?.outcome === 'selected' ? (outcome.optionId ?? '') : 'cancelled';
}

async function execute(turn: Turn, id: string, command: string, outlivesCancel: boolean): Promise<End | undefined> {
  const { session } = turn;
  update(session.id, { sessionUpdate: 'tool_call_update', toolCallId: id, status: 'in_progress' });
  note('runs', { turn: turn.id, text: command });
  const child = spawn('sh', ['-c', command], { cwd: session.cwd, stdio: ['ignore', 'pipe', 'ignore'] });
  let output = '';
  child.stdout.on('data', (data) => {
    output += data;
  });
  const ended = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? 1)));
  const gone = new Promise((resolve) => child.on('exit', resolve));
  const finish = (code: number) =>
    update(session.id, {
      sessionUpdate: 'tool_call_update',
      toolCallId: id,
      status: code === 0 ? 'completed' : 'failed',
      ...(style === 'gemini' ? {} : { rawOutput: output }),
    });
  const code = await Promise.race([ended, turn.cancelled]);
  if (code !== undefined) {
    finish(code);
    return undefined;
  }
  if (outlivesCancel) {
    const end = () => {
      child.kill('SIGKILL');
      return gone;
    };
    leftBehind.set(session.id, [...(leftBehind.get(session.id) ?? []), end]);
    ended.then(finish).catch(() => {});
  } else {
    child.kill('SIGKILL');
    finish(style === 'gemini' ? 0 : 1);
  }
  return cancelledEnd;
}

const verbs: Record<string, Verb> = {
  say(turn, value) {
    say(turn, value);
    return undefined;
  },
  think(turn, value) {
    made++;
    chunk(turn, value, 'agent_thought_chunk');
    return undefined;
  },
  /** Answers with the whole prompt, and how many images it had. */
  echo(turn) {
    const images = turn.parts.filter((part) => part.type === 'image').length;
    say(turn, `${turn.text.replaceAll(/\[\[.*?\]\]/gs, '')} (${images} images)`);
    return undefined;
  },
  /** Says how many images the prompt had. */
  images(turn) {
    const images = turn.parts.filter((part) => part.type === 'image').length;
    say(turn, `${images} image${images === 1 ? '' : 's'}`);
    return undefined;
  },
  /** Says a variable of its environment. */
  env(turn, name) {
    say(turn, process.env[name] ?? '');
    return undefined;
  },
  run: runCommand,
  /** A tool that needs no permission: `title`. */
  tool(turn, title) {
    const toolCallId = `call_${++made}`;
    update(turn.session.id, { sessionUpdate: 'tool_call', toolCallId, title, kind: 'read', status: 'in_progress' });
    update(turn.session.id, { sessionUpdate: 'tool_call_update', toolCallId, status: 'completed', rawOutput: 'done' });
    return undefined;
  },
  /** A tool that is never closed. */
  open(turn, title) {
    const toolCallId = `call_${++made}`;
    update(turn.session.id, { sessionUpdate: 'tool_call', toolCallId, title, kind: 'other', status: 'in_progress' });
    return undefined;
  },
  /** The result of a tool that no `tool_call` has named: `id`. */
  late(turn, toolCallId) {
    update(turn.session.id, { sessionUpdate: 'tool_call_update', toolCallId, title: toolCallId, status: 'completed' });
    return undefined;
  },
  /** A sub-agent with one tool of its own: `title`. */
  subagent(turn, title) {
    const toolCallId = `call_${++made}`;
    const { id } = turn.session;
    update(id, { sessionUpdate: 'tool_call', toolCallId, title, kind: 'think', name: 'Task', status: 'in_progress' });
    const _meta = { claudeCode: { parentToolUseId: toolCallId } };
    update(id, {
      sessionUpdate: 'tool_call',
      toolCallId: `${toolCallId}_1`,
      title: 'Read a file',
      kind: 'read',
      status: 'completed',
      _meta,
    });
    update(id, { sessionUpdate: 'tool_call_update', toolCallId, status: 'completed', rawOutput: 'found' });
    return undefined;
  },
  /** A change to a file, with its permission: `path`. */
  async edit(turn, path) {
    const toolCallId = `call_${++made}`;
    const content = [{ type: 'diff', path, oldText: 'one\n', newText: 'two\n' }];
    const tool = {
      toolCallId,
      title: `Edit ${path}`,
      kind: 'edit',
      content,
      locations: [{ path }],
      rawInput: { path },
    };
    update(turn.session.id, { sessionUpdate: 'tool_call', ...tool, status: 'pending' });
    const options = [
      { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
      { optionId: 'no', name: 'No', kind: 'reject_once' },
    ];
    const chosen = await permission(turn, { ...tool, status: 'pending' }, options);
    const status = chosen === 'yes' ? 'completed' : 'failed';
    update(turn.session.id, { sessionUpdate: 'tool_call_update', toolCallId, status });
    if (chosen === 'cancelled') return cancelledEnd;
    say(turn, chosen === 'yes' ? 'Changed. ' : 'Not changed. ');
    return undefined;
  },
  /** A question: `Which colour? | Red | Blue`. Says the answer. */
  async choose(turn, value) {
    const [question = '', ...choices] = value.split('|').map((part) => part.trim());
    const properties = {
      colour: { type: 'string', title: question, oneOf: choices.map((each) => ({ const: each, title: each })) },
      colour_custom: { type: 'string', title: 'Other' },
    };
    if (!client.forms) return undefined;
    const { answer } = ask('elicitation/create', {
      sessionId: turn.session.id,
      mode: 'form',
      message: question,
      requestedSchema: { type: 'object', properties, required: ['colour'] },
    });
    const first = await Promise.race([answer, turn.cancelled]);
    if (!first) return cancelledEnd;
    say(turn, `Answer: ${JSON.stringify(first.result)}`);
    return undefined;
  },
  /** Until the file of this name is in ACP_GATES, or the client cancels. */
  async wait(turn, name) {
    let over = false;
    turn.cancelled
      .then(() => {
        over = true;
      })
      .catch(() => {});
    while (!over && !existsSync(join(process.env.ACP_GATES ?? '', name)))
      await new Promise((next) => setTimeout(next, 10));
    return over ? cancelledEnd : undefined;
  },
  /** Until somebody steers; says what came. */
  async steered(turn) {
    const came = new Promise<string>((resolve) => {
      turn.steered = resolve;
    });
    const value = await Promise.race([came, turn.cancelled]);
    if (value === undefined) return cancelledEnd;
    say(turn, `Steered: ${value}`);
    return undefined;
  },
  /** For so many milliseconds, unless the client cancels. */
  async pause(turn, ms) {
    const over = new Promise<true>((resolve) => setTimeout(resolve, Number(ms), true));
    return (await Promise.race([over, turn.cancelled])) ? undefined : cancelledEnd;
  },
  /** Until it is cancelled. */
  async hang(turn) {
    await turn.cancelled;
    return cancelledEnd;
  },
  /** For ever: ignores a cancel. */
  deaf: () => new Promise(() => {}),
  /** As Claude: after the end of the turn a background task says something, with an end mark of its own. */
  background(turn, value) {
    turn.afterwards.push(() => {
      chunk(turn, value);
      update(turn.session.id, {
        sessionUpdate: 'usage_update',
        used: 7,
        size: 100,
        _meta: { '_claude/origin': { kind: 'task-notification' } },
      });
    });
    return undefined;
  },
  /** The same without an end mark. */
  afterwards(turn, value) {
    turn.afterwards.push(() => chunk(turn, value));
    return undefined;
  },
  /** A background task asks for a command, after the end of the turn. */
  'run-later'(turn, command) {
    turn.afterwards.push(() => void runCommand(turn, command));
    return undefined;
  },
  /** The end mark alone, while a turn runs. */
  'task-over'(turn) {
    const _meta = { '_claude/origin': { kind: 'task-notification' } };
    update(turn.session.id, { sessionUpdate: 'usage_update', _meta });
    return undefined;
  },
  /** A permission for a session that the client does not have. */
  async foreign(turn) {
    const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }];
    const { answer } = ask('session/request_permission', {
      sessionId: 'foreign',
      toolCall: { toolCallId: 'x' },
      options,
    });
    say(turn, outcomeOf(await answer));
    return undefined;
  },
  usage(turn, value) {
    const [used, size] = value.split(' ').map(Number);
    update(turn.session.id, { sessionUpdate: 'usage_update', used, size, cost: { amount: 0.5, currency: 'USD' } });
    return undefined;
  },
  /** Ends the turn with the tokens that it took, in the field of this agent: `read written`. */
  took(_turn, value) {
    const [read = 0, written = 0] = value.split(' ').map(Number);
    const inQuota = { _meta: { quota: { token_count: { input_tokens: read, output_tokens: written } } } };
    const inUsage = { usage: { inputTokens: read, outputTokens: written, totalTokens: read + written } };
    return { stopReason: 'end_turn', ...(style === 'gemini' ? inQuota : inUsage) };
  },
  plan(turn, value) {
    const entries = value
      .split('|')
      .map((content, index) => ({ content, priority: 'high', status: index === 0 ? 'completed' : 'pending' }));
    update(turn.session.id, { sessionUpdate: 'plan', entries });
    return undefined;
  },
  title(turn, title) {
    turn.session.title = title;
    update(turn.session.id, { sessionUpdate: 'session_info_update', title });
    return undefined;
  },
  mode(turn, currentModeId) {
    turn.session.mode = currentModeId;
    update(turn.session.id, { sessionUpdate: 'current_mode_update', currentModeId });
    return undefined;
  },
  /** X2: as `notice` where the client takes them, else as Codex once did: a chunk of the agent without an id. */
  notice(turn, value) {
    if (client.notices) update(turn.session.id, { sessionUpdate: 'notice', severity: 'warning', title: value });
    else chunk(turn, `Warning: ${value}\n\n`, 'agent_message_chunk', false);
    return undefined;
  },
  /** An API error, told in the way of the style, X3. */
  error(turn, value) {
    if (client.failures && style !== 'gemini' && style !== 'plain') {
      const sessionFailure = { category: 'service', severity: 'error', title: value, actions: ['retry'] };
      return { stopReason: 'end_turn', _meta: { jetbrains: { air: { version: 1, sessionFailure } } } };
    }
    if (style === 'codex') {
      update(turn.session.id, {
        sessionUpdate: 'session_info_update',
        _meta: { codex: { threadStatus: { type: 'systemError' } } },
      });
      chunk(turn, `${value}\n\n`, 'agent_message_chunk', false);
      return { stopReason: 'end_turn' };
    }
    if (style === 'claude') {
      made++;
      chunk(turn, value);
    }
    throw Object.assign(new Error(style === 'claude' ? `Internal error: ${value}` : value), { code: -32603 });
  },
  stop: (_turn, stopReason) => ({ stopReason }),
  /** Ends its own process, with words on stderr. */
  die(_turn, code) {
    process.stderr.write('fatal: out of luck\n');
    if (code === '9') process.kill(process.pid, 'SIGKILL');
    process.exit(Number(code) || 1);
  },
  /** A child that lives on when this process is killed; its pid stands in `file` as soon as that is there. */
  child(_turn, file) {
    const child = spawn('sleep', ['300'], { stdio: 'ignore' });
    writeFileSync(`${file}.new`, `${child.pid}`);
    renameSync(`${file}.new`, file);
    return undefined;
  },
  /** Many updates: `chunks 100000`, `tools 5000`, `line 50000000` (bytes in one message). */
  flood(turn, value) {
    const [kind, count] = value.split(' ');
    const { id } = turn.session;
    if (kind === 'line') chunk(turn, 'x'.repeat(Number(count)));
    for (let index = 0; kind !== 'line' && index < Number(count); index++) {
      if (kind === 'chunks') chunk(turn, 'x'.repeat(1000));
      else update(id, { sessionUpdate: 'tool_call', toolCallId: `flood_${index}`, title: 'x', status: 'in_progress' });
    }
    return undefined;
  },
  /** Any update as JSON; any other text goes out as a line that is no message. */
  raw(turn, value) {
    try {
      update(turn.session.id, JSON.parse(value));
    } catch {
      process.stdout.write(`${value}\n`);
    }
    return undefined;
  },
  /** A question that only a client of another kind could answer. */
  async request(turn, method) {
    const { answer } = ask(method, { sessionId: turn.session.id, path: '/etc/passwd' });
    say(turn, JSON.stringify((await answer).error ?? {}));
    return undefined;
  },
};

export async function run(turn: Turn): Promise<End> {
  if (style === 'codex' && !faults.has('quiet')) {
    update(turn.session.id, {
      sessionUpdate: 'session_info_update',
      _meta: { codex: { threadStatus: { type: 'active' } } },
    });
  }
  const steps = [...turn.text.matchAll(/\[\[([\w-]+)(?:: (.*?))?\]\]/gs)];
  let hasModel = false;
  // A pause before everything else is the time that the model takes to begin.
  const reaches = () => {
    if (!hasModel) note('prompt', { turn: turn.id, text: turn.text });
    hasModel = true;
  };
  for (const [, name = '', argument = ''] of steps) {
    if (name !== 'pause') reaches();
    const end = await verbs[name]?.(turn, argument);
    if (end) return end;
  }
  reaches();
  if (steps.length === 0) say(turn, 'ok');
  if (process.env.ACP_LEDGER) {
    note('answer', { turn: turn.id });
    say(turn, `Done, ${turn.id}.`);
  }
  return { stopReason: 'end_turn' };
}
