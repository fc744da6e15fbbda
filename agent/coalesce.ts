// Runs work once for all callers that wait for it.

/** The returned promise resolves after a run that began after the call. `work` must not reject. */
export function createCoalesced(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  function start(): Promise<void> {
    running = work().finally(() => {
      running = undefined;
    });
    return running;
  }
  return () => {
    if (!running) return start();
    next ??= running.then(() => {
      next = undefined;
      return start();
    });
    return next;
  };
}
