// One session of an agent: the prompt that runs, what the agent says meanwhile, and what it says when nobody has prompted it.

import { WaError } from '../../../protocol/errors.ts';
import { inEnglish, type Says } from '../agent-error.ts';
import type { AgentCommand, OwnedEvent, OwnedSession, PromptEnd, PromptPart, SessionHandlers } from '../owned.ts';
import type { AcpRow } from './agents.ts';
import { createAsked } from './asked.ts';
import { type ChildEnd, endsWithin } from './child.ts';
import { type Options, optionsIn } from './choices.ts';
import { callError, RpcError, wordsOf } from './failures.ts';
import { block, endOf, newTurn, type Turn } from './prompts.ts';
import { createReplay, type ReplayLimits } from './replay.ts';
import { permissionAnswer, permissionIn, questionAnswer, questionIn } from './requests.ts';
import { createSettings } from './settings.ts';
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
export interface SessionLimits extends ReplayLimits {
  /** From a cancel to the end of the prompt; then the process is killed. */
  cancelMs: number;
  /** Of silence, after which work that nobody prompted counts as done. */
  idleMs: number;
}

export type AcpSession = ReturnType<typeof createSession>;

/** Of the text of one turn; more is dropped. */
const maxTurnChars = 8 * 1024 * 1024;

export function createSession({ id, cwd, row, wire, handlers, can, limits, gone, kill, forget }: SessionParts) {
  const { habits } = row;
  let commands: readonly AgentCommand[] = [];
  let turn: Turn | undefined;
  let isReplaying = false;
  /** The agent works although nobody has prompted it. */
  let isOutside = false;
  let outsideTimer: NodeJS.Timeout | undefined;
  const asked = createAsked();
  const replay = createReplay(limits, habits.replayEnds !== undefined, gone);
  const tools = createToolbox(() => notice('warning', (texts) => texts.manyTools(row.title)));

  const emit = (event: OwnedEvent) => handlers.event(event);

  const settings = createSettings({ id, row, wire, emit });

  function notice(severity: 'info' | 'warning' | 'error', says: Says): void {
    emit({ type: 'notice', severity, text: inEnglish(says), says });
  }

  function update(change: Json): void {
    for (const reading of readUpdate(change, habits)) apply(reading);
    if (isReplaying) replay.note(change.sessionUpdate === 'available_commands_update');
  }

  function apply(reading: Reading): void {
    if (reading.type === 'commands') commands = reading.commands;
    else if (reading.type === 'options') settings.take(reading.options);
    else if (reading.type === 'mode') settings.setCurrent('mode', reading.id);
    // The rest of a replay is the past.
    else if (isReplaying) return;
    else if (reading.type === 'tool') {
      const { isLate, tool } = tools.take(reading);
      if (turn) turn.message = undefined;
      if (!isLate) noteWork();
      if (tool) emit({ type: 'tool', tool });
    } else if (reading.type === 'over') noteOver(reading.certain);
    else if (reading.type === 'failing') {
      if (turn) turn.failing = true;
    } else applyEvent(reading);
  }

  function applyEvent({ event, isWork, message }: Extract<Reading, { type: 'event' }>): void {
    if (isWork) noteWork();
    if (turn && event.type === 'notice') turn.lastNotice = event.text;
    if (turn && (event.type === 'text' || event.type === 'thought') && !fits(turn, event.text)) return;
    const isNext = event.type === 'text' && turn?.message !== undefined && message !== turn.message;
    if (turn && event.type === 'text') turn.message = message;
    emit(isNext ? { ...event, text: `\n\n${event.text}` } : event);
  }

  function fits(running: Turn, words: string): boolean {
    const before = running.chars;
    running.chars += words.length;
    if (before <= maxTurnChars && running.chars > maxTurnChars) notice('warning', (texts) => texts.saysMuch(row.title));
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

  async function prompt(content: readonly PromptPart[]): Promise<PromptEnd> {
    if (turn)
      throw new WaError('turn_running', `a prompt runs in this session of ${row.title}`, {
        hint: 'Wait for its end, or `/cancel`.',
      });
    let finish = () => {};
    const done = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const mine = newTurn(isOutside, done);
    turn = mine;
    try {
      const end = await endOf(mine, wire.request('session/prompt', { sessionId: id, prompt: content.map(block) }), {
        ...{ row, gone },
        warn: (says) => notice('warning', says),
        took: (tokens) => emit({ type: 'tokens', tokens }),
      });
      asked.withdrawAll();
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

  /** Ends a command that outlives its turn: the session is closed and opened again, with its mode and model. */
  async function reopen(command: string | undefined): Promise<void> {
    const what = `\`${command?.slice(0, 100) ?? '?'}\``;
    try {
      await wire.request('session/close', { sessionId: id });
      isReplaying = true;
      await settings.reopened(async () =>
        optionsIn(await wire.request('session/resume', { sessionId: id, cwd, mcpServers: [] })),
      );
      notice('info', (texts) => texts.reopened(row.title, what));
    } catch (cause) {
      notice('error', (texts) => texts.ranOn(row.title, what, wordsOf(cause)));
      await kill();
    } finally {
      isReplaying = false;
    }
  }

  const asksNothing = () => isReplaying || turn?.cancelled === true;

  async function permission(params: Json, signal: AbortSignal): Promise<Json> {
    const asks = permissionIn(params);
    if (!asks) return permissionAnswer(undefined);
    // Some agents name the tool here for the first time; others say here only what they have not said before.
    apply({ type: 'tool', tool: { state: 'waiting', ...asks.tool }, more: '' });
    const request = { ...asks, tool: tools.whole(asks.tool) };
    const chosen = await asked.whileAsked(signal, asksNothing, (own) => handlers.permission(request, own), undefined);
    return permissionAnswer(request.options.some((option) => option.id === chosen) ? chosen : undefined);
  }

  async function question(params: Json, signal: AbortSignal): Promise<Json> {
    const form = questionIn(params);
    if (!form) return questionAnswer(params, 'cancelled');
    if (!isReplaying) noteWork();
    const answer = await asked.whileAsked(
      signal,
      asksNothing,
      (own) => handlers.question(form, own),
      'cancelled' as const,
    );
    return questionAnswer(params, answer);
  }

  async function cancel(): Promise<void> {
    const running = turn;
    if (!running) return;
    if (!running.cancelled) {
      running.cancelled = true;
      asked.withdrawAll();
      wire.notify('session/cancel', { sessionId: id });
    }
    if (await endsWithin(running.done, limits.cancelMs)) return;
    notice('warning', (texts) => texts.didNotStop(row.title));
    await kill();
    await running.done;
  }

  /** Runs what replays the conversation; resolves when the replay is over. */
  async function replayed(load: () => Promise<Json>): Promise<void> {
    isReplaying = true;
    try {
      await replay.run(async () => settings.take(optionsIn(await load())));
    } finally {
      isReplaying = false;
    }
  }

  return {
    id,
    get modes() {
      return settings.choices('mode');
    },
    get models() {
      return settings.choices('model');
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
        throw callError(row, (texts, why) => texts.notSteered(row.title, why), cause);
      }
    },
    cancel,
    setMode: (value) => settings.change('mode', value),
    setModel: (value) => settings.change('model', value),
    async close() {
      await cancel();
      clearTimeout(outsideTimer);
      if (can.close) await wire.request('session/close', { sessionId: id }).catch(() => {});
      forget();
    },

    update,
    permission,
    question,
    take: (named: Options) => settings.take(named),
    replayed,
  } satisfies OwnedSession & Record<string, unknown>;
}
