// Runs work one after the other.

export type Enqueue = <T>(work: () => Promise<T>) => Promise<T>;

/** One after the other: work of a project never interleaves. A rejection reaches its own caller and does not stop what comes after. */
export function createQueue(): Enqueue {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => {});
    return next;
  };
}
