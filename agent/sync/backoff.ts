// Waiting between tries: doubling with full jitter, interruptible.

export interface Backoff {
  /** Milliseconds to wait after one more failure. */
  next(): number;
  reset(): void;
}

export function createBackoff(options: { firstMs: number; maxMs: number; random: () => number }): Backoff {
  let ceiling = options.firstMs;
  return {
    next() {
      const wait = ceiling * (0.5 + options.random() / 2);
      ceiling = Math.min(ceiling * 2, options.maxMs);
      return Math.round(wait);
    },
    reset() {
      ceiling = options.firstMs;
    },
  };
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
