// What one open session says to the turn rules and to the guard, as a hook of its agent would, and the prompts that it is answered with.

import type { HookCall, TurnAnswer, TurnEvent } from '../../protocol/turn-events.ts';
import type { Log } from '../log.ts';
import type { HookHost, Turns } from '../session/types.ts';
import type { Gatekeeper } from './gate.ts';
import type { OwnedProcess } from './owned.ts';

export interface TalkOptions {
  agent: string;
  cwd: string;
  process: Pick<OwnedProcess, 'pid' | 'ended'>;
  turns: Pick<Turns, 'handle' | 'status'>;
  guard: Gatekeeper;
  clock: () => number;
  log: Log;
}

/** `released`: another session has the messages of the project now. */
export type RunEnd = 'released' | 'died';

/** A full disk, or a budget: looked at again. */
const againMs = 2_000;

/** `session` = its id, as soon as there is one. */
export function createTalk({ agent, cwd, process, turns, guard, clock, log }: TalkOptions, session: () => string) {
  let saidAt = 0;
  let isOver = false;
  const died = process.ended.then((): 'died' => {
    isOver = true;
    return 'died';
  });
  const host: HookHost = { tool: agent, pid: process.pid, maxMs: Number.POSITIVE_INFINITY, isGone: () => isOver };
  const guarded = { ...host, leave: () => {} };
  const callOf = (event: TurnEvent): HookCall => ({
    ...{ agent, session: session(), transcript: undefined, cwd, event },
    owned: true,
  });

  /** Never rejects: what a full disk keeps out is said again, or settled at the next start. */
  async function say(event: TurnEvent): Promise<TurnAnswer> {
    saidAt = clock();
    try {
      return await turns.handle(callOf(event), host);
    } catch (cause) {
      log('error', 'owned session not heard', { agent, type: event.type, error: (cause as Error).message });
      return {};
    }
  }

  function pause(ms: number): Promise<unknown> {
    return Promise.race([new Promise((resolve) => setTimeout(resolve, ms).unref()), died]);
  }

  const isOurs = () => {
    const { session: bound, owned } = turns.status();
    return owned && bound === session();
  };

  return {
    say,
    /** Resolves early when the process ends. */
    pause,
    saidAt: () => saidAt,
    isOver: () => isOver,
    /** Waits for the next prompt; one of the events that may be held. */
    async next(event: TurnEvent): Promise<string | RunEnd> {
      let waits = event;
      for (;;) {
        const answer = await Promise.race([say(waits), died]);
        if (answer === 'died' || isOver) return 'died';
        if (answer.next !== undefined) return answer.next;
        if (!isOurs()) return 'released';
        // A full disk: the end is settled later, or it is and only the wait is over.
        await pause(againMs);
        waits = turns.status().turnRuns ? waits : { type: 'ready' };
      }
    },
    /** A budget that is used up holds the prompt back until the owner grants more, or `isWanted` says no. */
    async admitted(event: TurnEvent, isWanted: () => boolean): Promise<void> {
      while (!isOver && isWanted() && (await guard.admit(callOf(event))) !== undefined) await pause(againMs);
    },
    admit: (event: TurnEvent) => guard.admit(callOf(event)),
    follow: (event: TurnEvent) => guard.follow(callOf(event), guarded),
  };
}
