// Removes from a mailbox folder what killed writers left there. Touches no other name.

import { join } from 'node:path';
import { isAlive } from '../process.ts';
import { temporaryForm } from './atomic.ts';
import { filesBelow, removeBelow } from './below.ts';

const abandonedAfterMs = 3_600_000;

/** Never throws. */
export async function sweepTemporary(dir: string, now: number): Promise<void> {
  const left = await filesBelow(dir, (name) => temporaryForm.test(name)).catch(() => []);
  for (const { name, modifiedAtMs } of left) {
    // A writer that the machine's sleep stopped in the middle is old, and alive.
    const pid = temporaryForm.exec(name)?.[1];
    if (pid !== undefined && isAlive(Number(pid))) continue;
    if (now - modifiedAtMs > abandonedAfterMs) await removeBelow(join(dir, name)).catch(() => {});
  }
}
