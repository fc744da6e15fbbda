// Waiting between tries and between polls: doubling with jitter after failures, a shortest time in every case. Interruptible.

import { WaError } from '../../protocol/errors.ts';
import type { Outages } from './outages.ts';

const firstMs = 500;
const maxMs = 30_000;

/** Gives the milliseconds to wait after one more failure; never less than the other side asked for. */
export function createBackoff(random: () => number): (askedMs?: number) => number {
  let ceiling = firstMs;
  return (askedMs = 0) => {
    const wait = ceiling * (0.5 + random() / 2);
    ceiling = Math.min(ceiling * 2, maxMs);
    return Math.max(Math.round(wait), askedMs);
  };
}

/** Runs `work` until it succeeds or the signal aborts, with the pauses that the other side asks for. Never rejects. */
export async function untilDone(
  part: string,
  work: () => Promise<void>,
  {
    project,
    random,
    outages,
    signal,
  }: {
    project: { key: string };
    random: () => number;
    outages: Outages;
    signal: AbortSignal;
  },
): Promise<void> {
  const backoff = createBackoff(random);
  while (!signal.aborted) {
    try {
      await work();
      outages.worked(`${project.key} ${part}`);
      return;
    } catch (cause) {
      if (signal.aborted) return;
      outages.failed(`${project.key} ${part}`, cause);
      await pause(backoff(cause instanceof WaError ? cause.retryAfterMs : undefined), signal);
    }
  }
}

/** Resolves after `ms`, or at once when the signal aborts; never rejects. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
  });
}

/** The daemon must not spin, whatever the relay answers. Counts per loop, not per message. */
export interface Pace {
  /** Resolves when the next poll may start; at once while credit is left, or when the signal aborts. Never rejects. */
  turn(signal: AbortSignal): Promise<void>;
  /** The poll brought a new row: a burst of real messages costs nothing. */
  giveBack(): void;
}

/** Together: at most 240 polls without news in any minute, one in 250 ms on average. */
const burst = 60;
const everyMs = 334;

/** `clock` must be monotonic. */
export function createPace(clock: () => number = () => performance.now(), wait = pause): Pace {
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
