// One daemon for each mailbox folder, whatever directories of its own the daemon has: two of them, such as that of `wa-sync dev` and
// that of the service, would send and settle each other's entries.

import { createHash } from 'node:crypto';
import { mkdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { replaceFile } from '../fs/atomic.ts';
import { acquireLock, type HeldLock, readLockOwner } from '../fs/lock.ts';
import { readRaw } from '../fs/raw-file.ts';
import { sweepTemporary } from '../fs/sweep.ts';
import type { Directories } from '../paths.ts';
import { isOver } from '../process.ts';
import { variablesText } from '../shell.ts';

export interface Serving {
  /** `mailboxDir` has the two files of `projectDir`. Errors: `daemon_running`, `file_unusable`. */
  hold(mailboxDir: string, projectDir: string): Promise<void>;
  /** Gives all of them back. Never rejects. */
  release(): Promise<void>;
}

const maxNoteBytes = 16 * 1024;

export function createServing(dirs: Directories): Serving {
  const held: { lock: HeldLock; note: string }[] = [];
  return {
    async hold(mailboxDir, projectDir) {
      const path = placeOf(dirs, mailboxDir);
      await mkdir(join(path, '..'), { recursive: true, mode: 0o700 }).catch(() => {});
      const note = noteOf(path);
      try {
        held.push({ note, lock: await acquireLock(path, { timeoutMs: 0, short: false }) });
      } catch (cause) {
        if (!(cause instanceof WaError) || cause.code !== 'lock_timeout') throw cause;
        throw await servedAlready(path, projectDir);
      }
      await replaceFile(note, JSON.stringify(variablesOf(dirs)));
    },
    async release() {
      for (const { note, lock } of held.splice(0)) {
        await rm(note, { force: true }).catch(() => {});
        await lock.release();
      }
      // The last one leaves nothing, and removes what a killed one left.
      const folder = join(dirs.data, 'serving');
      await sweepTemporary(folder, Number.POSITIVE_INFINITY);
      await rmdir(folder).catch(() => {});
    },
  };
}

/** For a start that has much to do before its daemon. Errors: `daemon_running`. */
export async function refuseServed(dirs: Directories, mailboxDir: string, projectDir: string): Promise<void> {
  const path = placeOf(dirs, mailboxDir);
  const owner = await readLockOwner(path);
  if (owner && !isOver(owner)) throw await servedAlready(path, projectDir);
}

/** In the data directory, which no variable of wa-sync moves. */
function placeOf({ data }: Directories, mailboxDir: string): string {
  return join(data, 'serving', createHash('sha256').update(mailboxDir).digest('hex').slice(0, 24));
}

/** Beside the lock: how a command reaches the daemon that holds the lock. */
const noteOf = (path: string) => `${path}.json`;

const variablesOf = ({ state, config, runtime }: Directories) => ({
  WA_STATE_DIR: state,
  WA_CONFIG_DIR: config,
  WA_RUNTIME_DIR: runtime,
});

async function servedAlready(path: string, projectDir: string): Promise<WaError> {
  const owner = await readLockOwner(path);
  const which = owner ? `, process ${owner.pid},` : '';
  const command = `${await variablesIn(noteOf(path))}wa-sync down`;
  return new WaError('daemon_running', `another daemon${which} serves ${projectDir} already`, {
    hint: `Two would take each other's messages. End that one: \`${command}\`.`,
  });
}

/** What the daemon that holds the folder noted about itself; empty where nothing readable stands. */
async function variablesIn(path: string): Promise<string> {
  try {
    const note = JSON.parse((await readRaw(path, maxNoteBytes))?.bytes.toString('utf8') ?? '') as object;
    const pairs = Object.entries(note).filter(
      (pair): pair is [string, string] => /^WA_[A-Z_]+$/.test(pair[0]) && typeof pair[1] === 'string',
    );
    return `${variablesText(Object.fromEntries(pairs))} `;
  } catch {
    return '';
  }
}
