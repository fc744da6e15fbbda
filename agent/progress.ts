// Progress of what takes longer than a second: a spinner on a terminal, one plain line elsewhere. Nothing for what is quick.

/** Written to stderr. */
export interface Progress {
  /** Shows `label` while `work` runs, if it takes long; passes its result or error on. */
  during<T>(label: string, work: () => Promise<T>): Promise<T>;
}
