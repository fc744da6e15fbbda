// Waiting between tries: doubling with full jitter, interruptible.

import { WaError } from '../../protocol/errors.ts';

export interface Backoff {
  /** Milliseconds to wait after one more failure; never less than the other side asked for. */
  next(askedMs?: number): number;
  reset(): void;
}

export function createBackoff(options: { firstMs: number; maxMs: number; random: () => number }): Backoff {
  let ceiling = options.firstMs;
  return {
    next(askedMs = 0) {
      const wait = ceiling * (0.5 + options.random() / 2);
      ceiling = Math.min(ceiling * 2, options.maxMs);
      return Math.max(Math.round(wait), askedMs);
    },
    reset() {
      ceiling = options.firstMs;
    },
  };
}

/** The pause that the other side asked for with its refusal. */
export function retryAfterMs(cause: unknown): number | undefined {
  return cause instanceof WaError ? cause.retryAfterMs : undefined;
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
