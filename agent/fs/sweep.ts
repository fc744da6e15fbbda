// Removes the temporary files that killed writers left in a folder.

import { join } from 'node:path';
import { isAlive } from '../process.ts';
import { temporaryForm } from './atomic.ts';
import { filesBelow, removeBelow } from './below.ts';

const abandonedAfterMs = 3_600_000;

/** Removes the temporary files of killed writers, an hour old at `now` (Infinity = of any age), and touches no other name. Never throws. */
export async function sweepTemporary(dir: string, now: number): Promise<void> {
  const left = await filesBelow(dir, (name) => temporaryForm.test(name)).catch(() => []);
  for (const { name, modifiedAtMs } of left) {
    // The file of a writer that the sleep of the machine interrupted is old, and its process is alive.
    const pid = temporaryForm.exec(name)?.[1];
    if (pid !== undefined && isAlive(Number(pid))) continue;
    if (now - modifiedAtMs > abandonedAfterMs) await removeBelow(join(dir, name)).catch(() => {});
  }
}
