// Waits for a change in a folder, and never longer than it is told: a watcher may miss a change, for example on a network disk.

import { watch } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Resolves when something in the folder changes, after `ms`, or when the signal aborts. */
export async function changed(dir: string, ms: number, stopping?: AbortSignal): Promise<void> {
  const woken = new AbortController();
  let watcher: ReturnType<typeof watch> | undefined;
  try {
    watcher = watch(dir, () => woken.abort());
  } catch {
    // The folder does not exist yet: the time alone is enough.
  }
  const signal = stopping ? AbortSignal.any([stopping, woken.signal]) : woken.signal;
  await delay(ms, undefined, { signal }).catch(() => {});
  watcher?.close();
}
