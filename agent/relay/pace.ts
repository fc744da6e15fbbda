// The shortest time between polls: the daemon must not spin, for any answer of the relay. Counts per loop, not per message.

import { pause } from './backoff.ts';

export interface Pace {
  /** Resolves when the next poll may go; at once while there is credit, or when the signal aborts. Never rejects. */
  turn(signal: AbortSignal): Promise<void>;
  /** The poll brought something new: a burst of real messages costs nothing. */
  giveBack(): void;
}

/** Together: at most 240 polls without news in any minute, one in 250 ms on average. */
const burst = 60;
const everyMs = 334;

/** `clock` must never go back. */
export function createPace(clock: () => number = () => performance.now(), wait: typeof pause = pause): Pace {
  let credit = burst;
  let countedAt = clock();
  return {
    async turn(signal) {
      const now = clock();
      credit = Math.min(burst, credit + (now - countedAt) / everyMs) - 1;
      countedAt = now;
      if (credit < 0) await wait(Math.ceil(-credit * everyMs), signal);
    },
    giveBack() {
      credit = Math.min(burst, credit + 1);
    },
  };
}
