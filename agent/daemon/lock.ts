// What only one daemon of a user may hold.

import { WaError } from '../../protocol/errors.ts';
import { acquireLock, type HeldLock } from '../fs/lock.ts';

/** Errors: `daemon_running`; `more` = what else to do where `wa-sync down` finds no daemon. */
export async function lockForDaemon(path: string, more = ''): Promise<HeldLock> {
  try {
    return await acquireLock(path, { timeoutMs: 0, short: false });
  } catch (cause) {
    if (!(cause instanceof WaError) || cause.code !== 'lock_timeout') throw cause;
    throw new WaError('daemon_running', `a daemon of this user already runs: ${cause.message}`, {
      hint: `See it with \`wa-sync status\`, stop it with \`wa-sync down\`.${more}`,
      cause,
    });
  }
}
