// The end of a turn that waits for the phone: the one hook of a project that is held, what it is answered with as the next
// prompt, and giving the keyboard back.

import { hookLimits } from '../../protocol/limits.ts';
import type { Sprint } from '../../protocol/sprint.ts';
import type { HookCall, TurnAnswer } from '../../protocol/turn-events.ts';
import { driverOf } from '../drivers/registry.ts';
import { sizeOf } from '../drivers/session-file.ts';
import type { Enqueue } from '../queue.ts';
import { type Continuation, nextPrompt } from '../turns/after-turn.ts';
import { backNotice } from '../turns/hold.ts';
import type { HandOver } from './custody.ts';
import type { Desk } from './desk.ts';
import { burstMs } from './routes.ts';
import type { Runtime } from './runtime.ts';
import { isPresent } from './state.ts';
import type { HookHost, Route } from './types.ts';

export interface Held {
  readonly call: HookCall;
  readonly host: HookHost;
  /** Epoch milliseconds: before the host's own timeout. */
  readonly untilAt: number;
  /** The newest sign of a person when the wait began, and the time from which on a newer one ends it. */
  readonly seenAt: number;
  readonly endsFrom: number;
  readonly answer: Promise<TurnAnswer>;
}

export type HeldTurn = ReturnType<typeof createHeldTurn>;

interface HeldTurnParts {
  keepSprint(sprint: Sprint | undefined): Promise<void>;
  enqueue: Enqueue;
  desk: Pick<Desk, 'look' | 'isAway'>;
  wake(): void;
}

/** A key is answered within this time. */
const lookEveryMs = 500;
/** A terminal reports that a person turns to another window as it reports a key: who was there when the wait began may be leaving. */
const leavingMs = 10_000;

export function createHeldTurn(runtime: Runtime, hand: HandOver, { keepSprint, enqueue, desk, wake }: HeldTurnParts) {
  const { options, dispatch, viewOf, nonce, keepTurn } = runtime;
  const { project, journal, inbox, clock, log } = options;
  const p = project.key;
  let looking: NodeJS.Timeout | undefined;
  let current: { held: Held; resolve: (answer: TurnAnswer) => void } | undefined;

  function end(held: Held, answer: TurnAnswer): void {
    if (current?.held !== held) return;
    clearInterval(looking);
    current.resolve(answer);
    current = undefined;
  }

  /** The next prompt of the coding agent; false = the host is gone, or the messages are. */
  async function give({ text, messages }: Continuation, call: HookCall, host: HookHost): Promise<boolean> {
    if (host.isGone()) return false;
    const { session, transcript } = call;
    const place = { tool: host.tool, transcript, offset: await sizeOf(transcript) };
    const before = runtime.state;
    dispatch({ type: 'offered', text, place, at: clock() });
    const isGiven = await hand(messages, session, place, host);
    if (!isGiven) dispatch({ type: 'reopened', before });
    else if (!call.owned && driverOf(call.agent)?.announcesNext === false) {
      // Whether the host took the prompt, its session file says.
      dispatch({ type: 'turnContinued', at: clock() });
      dispatch({ type: 'modelSeen' });
      if (messages.length === 0) options.activity.started();
    }
    return isGiven;
  }

  /** Holds the hook; an older one is answered empty. */
  async function hold(call: HookCall, host: HookHost): Promise<Held> {
    if (current) end(current.held, {});
    let resolve: (answer: TurnAnswer) => void = () => {};
    const answer = new Promise<TurnAnswer>((give) => {
      resolve = give;
    });
    // The host counts from the start of the hook, and a turn's end takes its time to settle.
    const marginMs = Math.min(60_000, host.maxMs * 0.2);
    const now = clock();
    const untilAt = now + Math.max(0, host.maxMs - marginMs - hookLimits.keepAliveMs);
    const { seenAt } = runtime.state;
    // Whatever was said of away.
    const wasThere = isPresent(runtime.state, { ...options, away: false, now });
    const held = { call, host, untilAt, seenAt, endsFrom: wasThere ? now + leavingMs : now - 1_000, answer };
    current = { held, resolve };
    looking = setInterval(() => void endIfBack(), lookEveryMs);
    looking.unref();
    await keepTurn();
    log('info', 'turn held', { project: p, session: call.session });
    // What came while the turn was settled has woken no hook.
    wake();
    return held;
  }

  /** A key at the terminal ends the wait, and *away*. Never rejects. */
  async function endIfBack(): Promise<void> {
    const held = current?.held;
    if (!held) return;
    await desk.look();
    const { seenAt } = runtime.state;
    if (current?.held !== held || seenAt <= held.seenAt || seenAt < held.endsFrom) return;
    release(backNotice);
    if (!desk.isAway()) return;
    await journal
      .append([{ t: 'setting', p, at: clock(), name: 'away', value: false }])
      .catch((cause) => log('warn', 'away not ended', { project: p, error: (cause as Error).message }));
  }

  async function deliver(): Promise<'given' | 'nobody'> {
    await endIfBack();
    const held = current?.held;
    if (!held) return 'nobody';
    const next = held.host.isGone() ? undefined : nextPrompt(viewOf(await inbox.waiting()), nonce());
    if (next && current?.held === held) {
      await keepSprint(next.sprint);
      if (await give(next.continuation, held.call, held.host)) {
        end(held, { next: next.continuation.text, notice: next.continuation.notice });
        return 'given';
      }
      // Another reader was first, or the file cannot be written now.
      if (!held.host.isGone()) wake();
    }
    if (held.host.isGone() && current?.held === held) release();
    return 'nobody';
  }

  /** The keyboard is free again. */
  function release(notice?: string): void {
    const held = current?.held;
    if (!held) return;
    end(held, notice === undefined ? {} : { notice });
    void keepTurn();
    log('info', 'held turn released', { project: p, session: held.call.session });
  }

  const isOpen = () => current !== undefined;
  const route: Route = { name: 'held', wakes: false, gatherMs: burstMs, isOpen, deliver: () => enqueue(deliver) };
  return {
    route,
    current: () => current?.held,
    give,
    hold,
    release,
    endIfBack,
  };
}
