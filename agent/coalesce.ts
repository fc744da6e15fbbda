// Runs work once for all callers that wait for the work.

/** The returned promise resolves after a run that began after the call. `work` must not reject. */
export function createCoalesced(work: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    next ??= last.then(() => {
      next = undefined;
      last = work();
      return last;
    });
    return next;
  };
}
