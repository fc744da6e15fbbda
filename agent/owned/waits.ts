// Waits that end with a signal.

/** Resolves after `ms`, or at once when the signal ends. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, ms);
    timer.unref();
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Undefined = the signal ended first; what becomes of the work then is the caller's matter. */
export function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T | undefined> {
  const ended = new Promise<undefined>((resolve) => {
    if (signal.aborted) return resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  return Promise.race([work, ended]);
}
