// A turn's end that waits for the phone: giving the next prompt, now or later, and giving the keyboard back.

import type { Sprint } from '../../protocol/sprint.ts';
import type { HookCall } from '../../protocol/turn-events.ts';
import { sizeOf } from '../drivers/session-file.ts';
import { type Continuation, nextPrompt } from '../turns/after-turn.ts';
import type { HandOver } from './hand-over.ts';
import type { Held, Holding } from './holding.ts';
import type { Runtime } from './runtime.ts';
import { isBusy } from './state.ts';
import type { HookHost } from './types.ts';

export interface HeldTurn {
  /** The next prompt of the coding agent; false = nobody is there to take it. */
  give(next: Continuation, call: HookCall, host: HookHost): Promise<boolean>;
  hold(call: HookCall, host: HookHost): Promise<Held>;
  /** Answers the held hook, when there is something for it and a burst had its time. */
  wake(): void;
  /** Begins a turn in the idle terminal by keystrokes, where the owner asked for that. False = none begins: never allowed, or not now. */
  rouse(): Promise<boolean>;
  /** Answers it at once with what there is. */
  deliver(): void;
  /** The keyboard is free again. */
  release(): void;
}

export interface HeldTurnParts {
  holding: Holding;
  hand: HandOver;
  keepSprint(sprint: Sprint | undefined): Promise<void>;
  /** Among the events of the project, one after the other. */
  later(work: () => Promise<void>): void;
}

export function createHeldTurn(runtime: Runtime, parts: HeldTurnParts): HeldTurn {
  const { options, dispatch, viewOf, nonce, keepTurn } = runtime;
  const { project, inbox, clock, log } = options;
  const { holding, hand } = parts;
  const p = project.key;

  async function give({ text, messages }: Continuation, call: HookCall, host: HookHost): Promise<boolean> {
    if (host.isGone()) return false;
    const { session, transcript } = call;
    const place = { tool: host.tool, transcript, offset: await sizeOf(transcript) };
    const before = runtime.state;
    dispatch({ type: 'offered', text, place, at: clock() });
    const isGiven = await hand(messages, session, place, host);
    if (!isGiven) dispatch({ type: 'reopened', before });
    return isGiven;
  }

  async function hold(call: HookCall, host: HookHost): Promise<Held> {
    const held = holding.begin(call, host, clock());
    await keepTurn();
    log('info', 'turn held', { project: p, session: call.session });
    // What came while the turn was settled has woken nobody.
    wake();
    return held;
  }

  function wake(): void {
    if (!inbox.hasNews({ midTurn: false })) return;
    if (holding.current()) holding.gather(deliver);
    else if (options.nudge && isIdle()) holding.gather(() => void rouse());
  }

  /** Nothing runs, in a person's terminal that lives. */
  function isIdle(): boolean {
    const { bound, interactive } = runtime.state;
    return !isBusy(runtime.state) && interactive === true && bound?.pid !== undefined;
  }

  async function rouse(): Promise<boolean> {
    const { agent, bound } = runtime.state;
    if (!options.nudge || bound?.pid === undefined || agent === undefined || !isIdle()) return false;
    const typed = await options.nudge(bound.pid, agent).catch(() => false);
    log('info', 'terminal nudged', { project: p, typed });
    return typed;
  }

  function deliver(): void {
    parts.later(async () => {
      const held = holding.current();
      if (!held) return;
      if (held.host.isGone()) return release();
      const next = nextPrompt(viewOf(await inbox.waiting()), nonce());
      if (!next || holding.current() !== held) return;
      await parts.keepSprint(next.sprint);
      if (!(await give(next.continuation, held.call, held.host))) {
        // Somebody else was first, or the file cannot be written now.
        return held.host.isGone() ? release() : holding.gather(deliver);
      }
      holding.end(held, { next: next.continuation.text, notice: next.continuation.notice });
    });
  }

  function release(): void {
    const held = holding.current();
    if (!held) return;
    holding.end(held, {});
    void keepTurn();
    log('info', 'held turn released', { project: p, session: held.call.session });
  }

  return { give, hold, wake, rouse, deliver, release };
}
