// The ways to the coding agent that need no event of it, in the order in which they are tried.

import type { Sprint } from '../../protocol/sprint.ts';
import { nudgeLine } from '../../protocol/turn-events.ts';
import { sizeOf } from '../drivers/session-file.ts';
import type { Enqueue } from '../queue.ts';
import { nextPrompt } from '../turns/after-turn.ts';
import type { HandOver } from './custody.ts';
import type { Runtime } from './runtime.ts';
import { isBusy } from './state.ts';
import type { HookHost, PromptQueue, Route } from './types.ts';

/** By preference. What a hook event carries needs no place here: its hook asks by itself. */
export const routeOrder: readonly Route['name'][] = ['held', 'owned', 'queue', 'nudge', 'lease'];

export interface Routes {
  /** Something may wait: tries the routes once the rest of a burst had time to come. */
  wake(): void;
  /** Tries the open routes now, one after the other; `isWanted` = only some of them. False = the agent was not reached. Never rejects. */
  reach(isWanted?: (route: Route) => boolean): Promise<boolean>;
  /** A program waits for messages. */
  isAttended(): boolean;
  stop(): void;
}

/** The rest of a burst that the phone sends. */
export const burstMs = 700;

export function createRoutes({ options }: Runtime, own: readonly Route[]): Routes {
  const { project, inbox, log } = options;
  const rank = ({ name }: Route) => routeOrder.indexOf(name);
  const routes = () => [...own, ...options.routes()].sort((a, b) => rank(a) - rank(b));
  let gathering: NodeJS.Timeout | undefined;

  async function reach(isWanted: (route: Route) => boolean = () => true): Promise<boolean> {
    for (const route of routes()) {
      if (!isWanted(route) || !route.isOpen()) continue;
      const reached = await route.deliver().catch((cause) => {
        log('error', 'agent not reached', { project: project.key, route: route.name, error: (cause as Error).message });
        return 'nobody';
      });
      if (reached === 'given') return true;
    }
    return false;
  }

  return {
    wake() {
      if (!inbox.hasNews({ midTurn: false })) return;
      const first = routes().find((route) => route.isOpen());
      if (!first) return;
      gathering ??= setTimeout(() => {
        gathering = undefined;
        void reach();
      }, first.gatherMs);
    },
    reach,
    isAttended: () => routes().some((route) => !route.wakes && route.isOpen()),
    stop: () => clearTimeout(gathering),
  };
}

/** A person who types is not disturbed. */
const typingMs = 5_000;
/** The time in which a line that was typed begins a turn. */
const beginsWithinMs = 10_000;

/** Begins a turn in the idle terminal by keystrokes; the hook of its prompt takes what waits. */
export function createNudge(runtime: Runtime, isHeld: () => boolean, look: () => Promise<void>): Route {
  const { options } = runtime;
  const { project, clock, log } = options;
  let typing = false;
  let typedAt = Number.NEGATIVE_INFINITY;
  return {
    name: 'nudge',
    wakes: true,
    gatherMs: burstMs,
    isOpen() {
      const { bound, wakeable } = runtime.state;
      const isTried = typing || clock() - typedAt < beginsWithinMs;
      return wakeable === true && bound?.pid !== undefined && !isTried && !isBusy(runtime.state) && !isHeld();
    },
    async deliver() {
      const { agent, bound } = runtime.state;
      if (bound?.pid === undefined || agent === undefined || typing) return 'nobody';
      typing = true;
      try {
        await look();
        if (clock() - runtime.state.seenAt < typingMs) return 'nobody';
        const typed = await options.nudge(bound.pid, agent).catch(() => false);
        if (typed) typedAt = clock();
        log('info', 'terminal nudged', { project: project.key, typed });
        return typed ? 'given' : 'nobody';
      } finally {
        typing = false;
      }
    },
  };
}

/** After a failure of the queue, which is seldom over at once. */
const retryMs = 60_000;

/** UTF-8 bytes of a prompt that is an argument of a program: less than every system takes. */
const maxQueuedBytes = 30_000;

export interface QueueParts {
  queue: PromptQueue;
  hand: HandOver;
  keepSprint(sprint: Sprint | undefined): Promise<void>;
  enqueue: Enqueue;
  isHeld(): boolean;
}

/**
 * Gives what waits to the queue of the host, which begins a turn with it: the owner's words are a prompt there. What is too long comes with a
 * neutral prompt, whose hook takes what waits.
 */
export function createQueueRoute(runtime: Runtime, { queue, hand, keepSprint, enqueue, isHeld }: QueueParts): Route {
  const { options, dispatch, viewOf, nonce, keepTurn } = runtime;
  const { project, journal, inbox, clock, log } = options;
  let linedAt = Number.NEGATIVE_INFINITY;
  let failedAt = Number.NEGATIVE_INFINITY;

  async function add(session: Parameters<PromptQueue['add']>[0], prompt: string): Promise<void> {
    try {
      await queue.add(session, prompt);
    } catch (cause) {
      failedAt = clock();
      throw cause;
    }
  }

  async function deliver(): Promise<'given' | 'nobody'> {
    const { agent, bound, toldTo } = runtime.state;
    if (!bound || agent === undefined || isBusy(runtime.state) || isHeld()) return 'nobody';
    const next = nextPrompt(viewOf(await inbox.waiting()), nonce());
    if (!next) return 'nobody';
    const session = { agent, id: bound.id, transcript: toldTo?.transcript };
    const { text, messages } = next.continuation;
    if (Buffer.byteLength(text) > maxQueuedBytes) {
      await add(session, nudgeLine);
      linedAt = clock();
      return 'given';
    }
    const before = runtime.state;
    const place = { tool: agent, transcript: session.transcript, offset: await sizeOf(session.transcript) };
    dispatch({ type: 'offered', text, place, at: clock(), queued: true });
    await keepSprint(next.sprint);
    const host: HookHost = { tool: agent, pid: bound.pid, maxMs: 0, isGone: () => false };
    if (!(await hand(messages, bound.id, place, host))) {
      dispatch({ type: 'reopened', before });
      return 'nobody';
    }
    try {
      await add(session, text);
    } catch (cause) {
      await takeBack(
        messages.filter(({ fromOwner }) => fromOwner).map(({ entry }) => entry.id),
        before,
      );
      throw cause;
    }
    log('info', 'prompt queued', { project: project.key, session: bound.id, messages: messages.length });
    return 'given';
  }

  /** Unread again; the prompt begins no turn when the host has it all the same. */
  async function takeBack(ids: string[], before: Runtime['state']): Promise<void> {
    if (ids.length > 0) await journal.append([{ t: 'returned', p: project.key, at: clock(), ids }]);
    dispatch({ type: 'notQueued', before });
    await keepTurn();
    await inbox.refresh();
  }

  return {
    name: 'queue',
    wakes: true,
    gatherMs: burstMs,
    isOpen() {
      const { bound, queues } = runtime.state;
      const isTried = clock() - linedAt < beginsWithinMs || clock() - failedAt < retryMs;
      return queues && bound !== undefined && !isTried && !isBusy(runtime.state) && !isHeld();
    },
    deliver: () => enqueue(deliver),
  };
}
