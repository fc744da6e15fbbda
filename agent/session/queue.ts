// One thing after the other: work of a project never interleaves.

export type Enqueue = <T>(work: () => Promise<T>) => Promise<T>;

/** A rejection reaches its own caller and does not stop what comes after. */
export function createQueue(): Enqueue {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => {});
    return next;
  };
}
