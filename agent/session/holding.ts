// The one hook of a project that is held at the end of a turn, until the phone has something for it. Decides nothing.

import { hookLimits } from '../../protocol/limits.ts';
import type { HookCall, TurnAnswer } from '../../protocol/turn-events.ts';
import type { HookHost } from './types.ts';

export interface Held {
  readonly call: HookCall;
  readonly host: HookHost;
  /** Epoch milliseconds: before the host's own timeout. */
  readonly untilAt: number;
  readonly answer: Promise<TurnAnswer>;
}

export interface Holding {
  current(): Held | undefined;
  /** There is at most one: an older one is answered empty. */
  begin(call: HookCall, host: HookHost, now: number): Held;
  /** Answers `held`, if it is still the one; false = it is not. */
  end(held: Held, answer: TurnAnswer): boolean;
  /** Calls `onNews` once after the rest of a burst had its time. */
  gather(onNews: () => void): void;
  stop(): void;
}

/** The rest of a burst that the phone sends. */
const gatherMs = 700;

export function createHolding(): Holding {
  let current: { held: Held; resolve: (answer: TurnAnswer) => void } | undefined;
  let gathering: NodeJS.Timeout | undefined;

  function end(held: Held, answer: TurnAnswer): boolean {
    if (current?.held !== held) return false;
    const { resolve } = current;
    current = undefined;
    resolve(answer);
    return true;
  }

  return {
    current: () => current?.held,
    begin(call, host, now) {
      if (current) end(current.held, {});
      let resolve: (answer: TurnAnswer) => void = () => {};
      const answer = new Promise<TurnAnswer>((give) => {
        resolve = give;
      });
      // The host counts from the start of the hook, and a turn's end takes its time to settle.
      const marginMs = Math.min(60_000, host.maxMs * 0.2);
      const untilAt = now + Math.max(0, host.maxMs - marginMs - hookLimits.keepAliveMs);
      const held = { call, host, untilAt, answer };
      current = { held, resolve };
      return held;
    },
    end,
    gather(onNews) {
      gathering ??= setTimeout(() => {
        gathering = undefined;
        onNews();
      }, gatherMs);
    },
    stop: () => clearTimeout(gathering),
  };
}
