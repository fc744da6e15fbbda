// One session of an agent: the prompt that runs, what the agent says meanwhile, and what it says when nobody has prompted it.

import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { WaError } from '../../../protocol/errors.ts';
import { text } from '../../drivers/fields.ts';
import type { AgentCommand, OwnedEvent, OwnedSession, PromptEnd, PromptPart, SessionHandlers } from '../owned.ts';
import type { AcpRow } from './agents.ts';
import type { ChildEnd } from './child.ts';
import { noChoices, type Options, optionsIn, withCurrent } from './choices.ts';
import { callError, deathWords, isLogin, loginError, RpcError, sessionFailure, wordsOf } from './failures.ts';
import { permissionAnswer, permissionIn, questionAnswer, questionIn } from './requests.ts';
import { createToolbox } from './toolbox.ts';
import { type Reading, readUpdate } from './updates.ts';
import type { Wire } from './wire.ts';

type Json = Record<string, unknown>;

export interface SessionParts {
  id: string;
  cwd: string;
  row: AcpRow;
  wire: Wire;
  handlers: SessionHandlers;
  can: { steer: boolean; close: boolean; resume: boolean };
  limits: SessionLimits;
  /** The end of the process. */
  gone: Promise<ChildEnd>;
  kill(): Promise<void>;
  /** The session is closed. */
  forget(): void;
}

/** Milliseconds. */
export interface SessionLimits {
  /** From a cancel to the end of the prompt; then the process is killed. */
  cancelMs: number;
  /** Of silence, after which work that nobody prompted counts as done. */
  idleMs: number;
  /** Of silence after the response to a load, after which its replay counts as over. */
  quietMs: number;
  /** The longest wait for the last update of a replay. */
  replayMs: number;
}

export type AcpSession = ReturnType<typeof createSession>;

interface Turn {
  /** The first sign that the model has the prompt was seen. */
  inserted: boolean;
  /** Work that was there before the prompt is not a sign of it. */
  behind: boolean;
  cancelled: boolean;
  /** Its end is an error, whatever the agent calls it. */
  failing: boolean;
  lastNotice: string | undefined;
  chars: number;
  done: Promise<void>;
}

/** Of the text of one turn; more is dropped. */
const maxTurnChars = 8 * 1024 * 1024;

export function createSession({ id, cwd, row, wire, handlers, can, limits, gone, kill, forget }: SessionParts) {
  const { habits } = row;
  let options: Options = {};
  let commands: readonly AgentCommand[] = [];
  let turn: Turn | undefined;
  let isReplaying = false;
  /** The agent works although nobody has prompted it. */
  let isOutside = false;
  let outsideTimer: NodeJS.Timeout | undefined;
  let noteReplay = (_isLast: boolean) => {};
  const asked = new Set<AbortController>();
  const tools = createToolbox(() =>
    notice('warning', `${row.title} uses very many tools: further ones are not shown.`),
  );

  const emit = (event: OwnedEvent) => handlers.event(event);

  function notice(severity: 'info' | 'warning' | 'error', words: string): void {
    emit({ type: 'notice', severity, text: words });
  }

  function update(change: Json): void {
    for (const reading of readUpdate(change, habits)) apply(reading);
    if (isReplaying) noteReplay(change.sessionUpdate === 'available_commands_update');
  }

  function apply(reading: Reading): void {
    if (reading.type === 'commands') commands = reading.commands;
    else if (reading.type === 'options') take(reading.options);
    else if (reading.type === 'mode') setCurrent('mode', reading.id);
    // The rest of a replay is the past.
    else if (isReplaying) return;
    else if (reading.type === 'tool') {
      const { isLate, tool } = tools.take(reading);
      if (!isLate) noteWork();
      if (tool) emit({ type: 'tool', tool });
    } else if (reading.type === 'over') noteOver(reading.certain);
    else if (reading.type === 'failing') {
      if (turn) turn.failing = true;
    } else applyEvent(reading.event, reading.isWork);
  }

  function applyEvent(event: OwnedEvent, isWork: boolean): void {
    if (isWork) noteWork();
    if (turn && event.type === 'notice') turn.lastNotice = event.text;
    if (turn && (event.type === 'text' || event.type === 'thought') && !fits(turn, event.text)) return;
    emit(event);
  }

  function fits(running: Turn, words: string): boolean {
    const before = running.chars;
    running.chars += words.length;
    if (before <= maxTurnChars && running.chars > maxTurnChars)
      notice('warning', `${row.title} says very much: the rest is left out.`);
    return running.chars <= maxTurnChars;
  }

  function noteWork(): void {
    if (turn?.behind === false) {
      noteInserted(turn);
      return;
    }
    isOutside = true;
    clearTimeout(outsideTimer);
    outsideTimer = setTimeout(endOutside, limits.idleMs);
    outsideTimer.unref();
  }

  function noteInserted(running: Turn): void {
    if (running.inserted) return;
    running.inserted = true;
    emit({ type: 'inserted' });
  }

  /** `isCertain` = names work that nobody prompted; else the end may as well be that of the running prompt. */
  function noteOver(isCertain: boolean): void {
    if (isCertain || !turn) endOutside();
  }

  function endOutside(): void {
    clearTimeout(outsideTimer);
    if (turn) turn.behind = false;
    if (!isOutside) return;
    isOutside = false;
    if (!turn) for (const tool of tools.closeAll('done')) emit({ type: 'tool', tool });
    emit({ type: 'idle' });
  }

  function take(named: Options): void {
    const before = options;
    options = { mode: named.mode ?? options.mode, model: named.model ?? options.model };
    for (const kind of ['mode', 'model'] as const) {
      const current = options[kind]?.choices.current;
      const isChanged = before[kind] !== undefined && before[kind]?.choices.current !== current;
      if (isChanged && current !== undefined) emit({ type: kind, id: current });
    }
  }

  function setCurrent(kind: 'mode' | 'model', value: string): void {
    const option = options[kind];
    take({ [kind]: withCurrent(option ?? { choices: noChoices, change: undefined }, value) });
  }

  async function change(kind: 'mode' | 'model', value: string): Promise<void> {
    const option = options[kind];
    const { all = [], current } = option?.choices ?? {};
    const isOffered = value === current || all.some((each) => each.id === value);
    if (!option?.change || !isOffered) throw unknownChoice(kind, value, all);
    try {
      const answer = await wire.request(option.change.method, { sessionId: id, ...option.change.params(value) });
      take(optionsIn(answer));
    } catch (cause) {
      if (cause instanceof RpcError && cause.code === invalidParams) throw unknownChoice(kind, value, all, cause);
      throw callError(row, `does not take the ${kind} "${value}"`, cause);
    }
    const now = options[kind] ?? option;
    options = { ...options, [kind]: withCurrent(now, value) };
  }

  function unknownChoice(kind: string, value: string, all: readonly { id: string }[], cause?: unknown): WaError {
    const names = all.slice(0, 20).map((each) => each.id);
    const hint = names.length > 0 ? `Take one of ${names.join(', ')}.` : `${row.title} offers no choice of ${kind}.`;
    return new WaError('not_found', `${row.title} has no ${kind} "${value}" in this session`, { hint, cause });
  }

  async function prompt(content: readonly PromptPart[]): Promise<PromptEnd> {
    if (turn)
      throw new WaError('conflict', `a prompt runs in this session of ${row.title}`, {
        hint: 'Wait for its end, or `/cancel`.',
      });
    let finish = () => {};
    const done = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const mine: Turn = {
      inserted: false,
      behind: isOutside,
      cancelled: false,
      failing: false,
      lastNotice: undefined,
      chars: 0,
      done,
    };
    turn = mine;
    try {
      const end = await endOf(mine, wire.request('session/prompt', { sessionId: id, prompt: content.map(block) }));
      withdrawAll();
      const left = tools.closeAll(end.type === 'answered' ? 'done' : 'failed');
      for (const tool of left) emit({ type: 'tool', tool });
      if (end.type === 'answered') noteInserted(mine);
      if (mine.cancelled && left.length > 0 && !habits.cancelStopsTool) await reopen(left[0]?.title);
      return end;
    } finally {
      turn = undefined;
      finish();
    }
  }

  async function endOf(mine: Turn, response: Promise<Json>): Promise<PromptEnd> {
    try {
      const { stopReason, _meta } = await response;
      const failure = sessionFailure(_meta);
      if (mine.cancelled || stopReason === 'cancelled') return { type: 'cancelled' };
      if (failure) return failed(failure.text);
      if (mine.failing) return failed(mine.lastNotice ?? `${row.title} reports an error without words`);
      if (stopReason === 'refusal') return failed(`${row.title} refuses to go on with this conversation`);
      const cut = cutBy[text(stopReason) ?? ''];
      if (cut) notice('warning', `${row.title} stopped at ${cut}.`);
      return { type: 'answered' };
    } catch (cause) {
      if (cause instanceof RpcError) {
        if (mine.cancelled) return { type: 'cancelled' };
        const login = isLogin(cause) ? loginError(row) : undefined;
        return failed(login ? `${login.message}. ${login.hint}` : wordsOf(cause));
      }
      const words = deathWords(row, await gone);
      return mine.cancelled ? { type: 'cancelled' } : { type: 'failed', error: words, died: true };
    }
  }

  /** Ends a command that outlives its turn: the session is closed and opened again, with its mode and model. */
  async function reopen(command: string | undefined): Promise<void> {
    const { mode, model } = options;
    const what = command ? `the command \`${command.slice(0, 100)}\`` : 'the command';
    try {
      await wire.request('session/close', { sessionId: id });
      isReplaying = true;
      options = optionsIn(await wire.request('session/resume', { sessionId: id, cwd, mcpServers: [] }));
      await restore('mode', mode?.choices.current);
      await restore('model', model?.choices.current);
      notice(
        'info',
        `${row.title} lets ${what} run on after a cancel, so its session was closed and opened again, which ended it.`,
      );
    } catch (cause) {
      notice('error', `${what} may have run on after the cancel, so ${row.title} was ended: ${wordsOf(cause)}`);
      await kill();
    } finally {
      isReplaying = false;
    }
  }

  async function restore(kind: 'mode' | 'model', value: string | undefined): Promise<void> {
    if (value !== undefined && options[kind]?.choices.current !== value) await change(kind, value);
  }

  function withdrawAll(): void {
    for (const each of asked) each.abort();
  }

  /** `answer` gets a signal that ends with the request, by whichever side; then the result is `otherwise`. */
  async function whileAsked<T>(
    signal: AbortSignal,
    answer: (signal: AbortSignal) => Promise<T>,
    otherwise: T,
  ): Promise<T> {
    const own = new AbortController();
    const withdrawn = new Promise<T>((resolve) => {
      own.signal.addEventListener('abort', () => resolve(otherwise), { once: true });
    });
    const abort = () => own.abort();
    signal.addEventListener('abort', abort, { once: true });
    asked.add(own);
    try {
      if (signal.aborted || isReplaying || turn?.cancelled) return otherwise;
      return await Promise.race([answer(own.signal), withdrawn]);
    } catch {
      return otherwise;
    } finally {
      asked.delete(own);
      signal.removeEventListener('abort', abort);
    }
  }

  async function permission(params: Json, signal: AbortSignal): Promise<Json> {
    const request = permissionIn(params);
    if (!request) return permissionAnswer(undefined);
    // Some agents name the tool here for the first time.
    apply({ type: 'tool', tool: { state: 'waiting', ...request.tool }, more: '' });
    const chosen = await whileAsked(signal, (own) => handlers.permission(request, own), undefined);
    return permissionAnswer(request.options.some((option) => option.id === chosen) ? chosen : undefined);
  }

  async function question(params: Json, signal: AbortSignal): Promise<Json> {
    const form = questionIn(params);
    if (!form) return questionAnswer(params, 'cancelled');
    if (!isReplaying) noteWork();
    const answer = await whileAsked(signal, (own) => handlers.question(form, own), 'cancelled' as const);
    return questionAnswer(params, answer);
  }

  async function cancel(): Promise<void> {
    const running = turn;
    if (!running) return;
    if (!running.cancelled) {
      running.cancelled = true;
      withdrawAll();
      wire.notify('session/cancel', { sessionId: id });
    }
    if (await isSettled(running.done, limits.cancelMs)) return;
    notice('warning', `${row.title} did not stop, so it was ended.`);
    await kill();
    await running.done;
  }

  /** Runs what replays the conversation; resolves when the replay is over. */
  async function replayed(load: () => Promise<Json>): Promise<void> {
    isReplaying = true;
    try {
      let end = () => {};
      const over = new Promise<void>((resolve) => {
        end = resolve;
      });
      const ms = habits.replayEnds ? limits.replayMs : limits.quietMs;
      let timer: NodeJS.Timeout | undefined;
      noteReplay = (isLast) => {
        clearTimeout(timer);
        if (isLast && habits.replayEnds) end();
        else timer = setTimeout(end, ms);
      };
      take(optionsIn(await load()));
      noteReplay(false);
      await Promise.race([over, gone]);
      clearTimeout(timer);
    } finally {
      isReplaying = false;
      noteReplay = () => {};
    }
  }

  return {
    id,
    get modes() {
      return options.mode?.choices ?? noChoices;
    },
    get models() {
      return options.model?.choices ?? noChoices;
    },
    commands: () => commands,
    prompt,
    async steer(words) {
      if (!turn || !can.steer) return 'idle';
      const params = {
        sessionId: id,
        prompt: [block({ text: words })],
        _meta: { steering: { idleBehavior: 'promptRequired' } },
      };
      try {
        const { outcome } = await wire.request('_session/steering', params);
        return outcome === 'injected' ? 'injected' : 'idle';
      } catch (cause) {
        if (cause instanceof RpcError) return 'idle';
        throw callError(row, 'ended before it took the text', cause);
      }
    },
    cancel,
    setMode: (value) => change('mode', value),
    setModel: (value) => change('model', value),
    async close() {
      await cancel();
      clearTimeout(outsideTimer);
      if (can.close) await wire.request('session/close', { sessionId: id }).catch(() => {});
      forget();
    },

    update,
    permission,
    question,
    take,
    replayed,
  } satisfies OwnedSession & Record<string, unknown>;
}

const invalidParams = -32602;

const cutBy: Readonly<Record<string, string>> = {
  max_tokens: 'its limit of tokens, so the answer may be cut',
  max_turn_requests: 'its limit of requests in one turn',
};

const failed = (error: string): PromptEnd => ({ type: 'failed', error, died: false });

function block(part: PromptPart): Json {
  if ('text' in part) return { type: 'text', text: part.text };
  if ('file' in part) return { type: 'resource_link', uri: pathToFileURL(part.file).href, name: basename(part.file) };
  return { type: 'image', mimeType: part.mimeType, data: Buffer.from(part.image).toString('base64') };
}

async function isSettled(done: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const settled = await Promise.race([done.then(() => true), late]);
  clearTimeout(timer);
  return settled;
}
