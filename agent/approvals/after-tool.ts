// What a policy runs after a tool: commands whose output the model reads with the tool's result, and filters whose output it reads
// in place of that result. A filter that fails withholds the result; what failed is never lost unread.

import { EventEmitter, once } from 'node:events';
import type { Texts } from '../../protocol/texts.ts';
import type { HookCall, TurnAnswer, TurnEvent } from '../../protocol/turn-events.ts';
import { watchCancel } from '../drivers/session-file.ts';
import type { AfterCommand } from './policy/judge.ts';
import type { GateHost } from './question/asked.ts';
import { type Ran, runCommand } from './run.ts';

export type ToolEnd = HookCall & { event: Extract<TurnEvent, { type: 'toolEnd' }> };

export interface AfterToolOptions {
  /** Where the commands run. */
  dir: string;
  commands(call: ToolEnd): Promise<readonly AfterCommand[]>;
  redact(text: string): string;
  /** One line per command that ended. */
  audit(line: { tool: string; session: string; what: string; text: string }): void;
  /** A note on the phone. Never rejects. */
  notify(about: 'after', text: string): Promise<void>;
  texts(): Texts;
  clock: () => number;
}

/** Of all that runs after one call. The installed hook waits longer. */
const commandMs = 120_000;
/** What the answer needs on its way to the host, before the host gives up. */
const hostMarginMs = 10_000;
/** After Esc the host's terminal still waits for the hook. */
const cancelLookMs = 250;
const notedChars = 1_500;
const shownChars = 4_000;

export function createAfterTool(options: AfterToolOptions) {
  const { redact, clock } = options;
  /** What no hook has taken yet, by session. */
  const outputs = new Map<string, { text: string; failed: boolean }[]>();
  /** Hooks that are kept waiting, with their sessions: `hurry` = answer now, with what there is; `leave` = the answer would not be read. */
  const waits = new Map<EventEmitter, string>();
  const running = new Set<{ session: string; stop: AbortController }>();
  /** Sessions that ended while one of their commands ran. */
  const over = new Set<string>();

  async function start(command: string, { session, event }: ToolEnd, stdin: string, timeoutMs: number): Promise<Ran> {
    const entry = { session, stop: new AbortController() };
    running.add(entry);
    const { signal } = entry.stop;
    const ran = await runCommand(command, { cwd: options.dir, stdin, timeoutMs, signal });
    running.delete(entry);
    options.audit({ tool: event.tool, session, what: howEnded(ran, timeoutMs), text: redact(command) });
    return ran;
  }

  async function append({ run, readsResult }: AfterCommand, call: ToolEnd): Promise<void> {
    const { session, event } = call;
    const ran = await start(run, call, readsResult ? textOf(event.result) : '', commandMs);
    const failed = ran.code !== 0;
    const end = failed ? `; it ${howEnded(ran, commandMs)}` : '';
    const text = `wa-sync ran \`${redact(run)}\` after ${event.tool}${end}:\n${shown(redact(ran.output)) || '(no output)'}`;
    outputs.set(session, [...(outputs.get(session) ?? []), { text, failed }]);
    if (over.has(session)) await giveUp(session, 'unreadAtSessionEnd');
  }

  /** The result as the filters leave it, one after the other; undefined = no filter. The model reads no filter's command, which may name what it hides. */
  async function filter(filters: readonly AfterCommand[], call: ToolEnd, limitMs: number): Promise<string | undefined> {
    if (filters.length === 0) return undefined;
    const { tool, result } = call.event;
    if (result === undefined) {
      return withheld(call, 'which is too large for the filter of its policy, or cannot be read');
    }
    const until = clock() + limitMs;
    let text = textOf(result);
    for (const { run } of filters) {
      const ran = await start(run, call, text, Math.max(0, until - clock()));
      if (ran.code !== 0) return withheld(call, `because the filter of its policy ${howEnded(ran, limitMs)}`);
      text = ran.stdout;
    }
    return `${tool} ran. This is what the policy of wa-sync leaves of its result:\n${text || '(nothing)'}`;
  }

  function take(session: string): TurnAnswer {
    const texts = (outputs.get(session) ?? []).map(({ text }) => text);
    outputs.delete(session);
    return texts.length === 0 ? {} : { context: texts.join('\n\n') };
  }

  /** `left` = the host went on without an answer. The outputs may be late, the result may not. */
  async function waitFor(
    ended: Promise<unknown>,
    result: Promise<string | undefined>,
    { agent, session, transcript }: ToolEnd,
    limitMs: number,
  ): Promise<{ deny: string | undefined } | 'left'> {
    const wait = new EventEmitter();
    const hurried = once(wait, 'hurry');
    const left = once(wait, 'leave').then(() => 'left' as const);
    waits.set(wait, session);
    const timer = setTimeout(() => wait.emit('hurry'), limitMs);
    // The host tells no hook that its turn was cancelled; the session file does.
    const isLong = transcript !== undefined && limitMs > cancelLookMs;
    const isCancelled = isLong ? await watchCancel({ agent, path: transcript }) : async () => false;
    const looking = setInterval(async () => {
      if (await isCancelled().catch(() => false)) wait.emit('leave');
    }, cancelLookMs);
    const there = Promise.all([result, Promise.race([ended, hurried])]);
    const answer = await Promise.race([there.then(([deny]) => ({ deny })), left]);
    waits.delete(wait);
    clearTimeout(timer);
    clearInterval(looking);
    return answer;
  }

  async function giveUp(session: string, unread: Unread): Promise<void> {
    const failed = (outputs.get(session) ?? []).filter((output) => output.failed);
    outputs.delete(session);
    for (const { text } of failed) {
      await options.notify('after', options.texts().approvals[unread](text).slice(0, notedChars));
    }
  }

  return {
    /** Something runs after this call, for which its hook should wait. */
    concerns: async (call: ToolEnd) => (await options.commands(call)).length > 0,
    /** Resolves when everything ended, or the hook's time is over: the next hook then takes the rest. Never rejects. */
    async run(call: ToolEnd, host: GateHost): Promise<TurnAnswer> {
      const { session } = call;
      const commands = await options.commands(call);
      if (commands.length === 0) return take(session);
      const limitMs = Math.min(commandMs, host.maxMs - hostMarginMs);
      const filters = commands.filter(({ result }) => result === 'replace');
      const others = commands.filter(({ result }) => result === 'append');
      const appended = Promise.all(others.map((each) => append(each, call)));
      const answer = await waitFor(appended, filter(filters, call, limitMs), call, limitMs);
      if (answer === 'left') {
        host.leave();
        // Of a cancelled call the host keeps what it has.
        return filters.length === 0 ? {} : { deny: withheld(call, 'because the turn was cancelled') };
      }
      const more = host.isGone() ? {} : take(session);
      return answer.deny === undefined ? more : { ...more, deny: answer.deny };
    },
    take,
    /** The answers of hooks of the previous turn are no longer read. */
    turnStarts(session: string): void {
      over.delete(session);
      for (const [wait, of] of waits) if (of === session) wait.emit('leave');
    },
    /** A STOP: hooks are answered now. A filter's hook still waits. */
    hurry(): void {
      for (const wait of waits.keys()) wait.emit('hurry');
    },
    /** The outputs of this session are no longer read: the phone is told of those that report a failure. */
    async sessionEnds(session: string): Promise<void> {
      if ([...running].some((each) => each.session === session)) over.add(session);
      await giveUp(session, 'unreadAtSessionEnd');
    },
    async stop(): Promise<void> {
      for (const { stop } of running) stop.abort();
      for (const session of [...outputs.keys()]) await giveUp(session, 'unreadAtDaemonEnd');
    },
  };
}

function shown(output: string): string {
  return output.length > shownChars ? `…${output.slice(-shownChars)}` : output;
}

function withheld({ event: { tool } }: ToolEnd, why: string): string {
  return `The result of ${tool} is withheld by wa-sync, ${why}. The tool itself ran.`;
}

type Unread = 'unreadAtSessionEnd' | 'unreadAtDaemonEnd';

function howEnded({ code }: Ran, limitMs: number): string {
  if (code === 'late') return `took longer than ${limitMs / 1000} s and was ended`;
  return code === null ? 'was killed' : `ended with ${code}`;
}

/** What a tool gave, as a program reads it: its text, or JSON. */
function textOf(result: unknown): string {
  if (typeof result === 'string') return result;
  const parts: readonly unknown[] = Array.isArray(result) ? result : [result];
  const texts = parts.map((part) => (part as { text?: unknown } | null)?.text ?? part);
  if (texts.every((text) => typeof text === 'string')) return texts.join('');
  return JSON.stringify(result) ?? '';
}
