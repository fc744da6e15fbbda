// A lock that names its owner, held by processes of this user on this machine; a dead owner's lock is taken over.
// Ours and not a library's, because the hook fallback may import no package and its start is counted in milliseconds.

import { unlink } from 'node:fs/promises';
import { resolve } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { type LockOwner, newOwner, placeLock, readLock, removeMarked, removeStale, shortStaleMs } from './lock-file.ts';
import { enterQueue } from './queue.ts';

export interface HeldLock {
  /** Idempotent, never rejects: what cannot be removed grows stale. */
  release(): Promise<void>;
}

export interface LockOptions {
  timeoutMs: number;
  /** False = held for the life of the process: only a dead owner's lock is stale, never an old one. */
  short: boolean;
}

const stepMs = 4;

/**
 * `path` is what is locked; the lock is `<path>.lock`. Callers within one process get it in the order in which they asked.
 * Errors: `lock_timeout` naming the owner, `file_unusable`.
 */
export async function acquireLock(path: string, { timeoutMs, short }: LockOptions): Promise<HeldLock> {
  const lockPath = `${resolve(path)}.lock`;
  const untilMs = uptimeMs() + timeoutMs;
  const leave = await enterQueue(lockPath, timeoutMs);
  if (!leave) throw await timedOut(path);
  try {
    for (;;) {
      const seen = await readLock(lockPath);
      if (seen) {
        if (await removeStale(lockPath, seen, short ? 'short' : 'process')) continue;
      } else {
        const owner = newOwner();
        if (await placeLock(lockPath, owner)) return held(lockPath, owner, { short, leave });
      }
      if (uptimeMs() >= untilMs) throw await timedOut(path);
      // Not all in step.
      await new Promise((done) => setTimeout(done, stepMs * (0.5 + Math.random())));
    }
  } catch (cause) {
    leave();
    throw cause;
  }
}

export async function withFileLock<T>(path: string, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const lock = await acquireLock(path, { timeoutMs, short: true });
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

/** Undefined = not locked, or the lock cannot be read. */
export async function readLockOwner(path: string): Promise<LockOwner | undefined> {
  const seen = await readLock(`${resolve(path)}.lock`).catch(() => undefined);
  return seen?.owner;
}

function held(lockPath: string, owner: LockOwner, { short, leave }: { short: boolean; leave(): void }): HeldLock {
  let released: Promise<void> | undefined;
  const release = async () => {
    try {
      const seen = await readLock(lockPath);
      if (seen?.mark !== owner.nonce) return;
      const mayBeStolenNow = short && Date.now() - owner.at > shortStaleMs / 2;
      if (mayBeStolenNow) await removeMarked(lockPath, owner.nonce);
      else await unlink(lockPath);
    } catch {
      // It grows stale, and our process ends.
    } finally {
      leave();
    }
  };
  return {
    release() {
      released ??= release();
      return released;
    },
  };
}

/** Not by `performance`: a process's first look at it costs as much as the rest of a lock. */
function uptimeMs(): number {
  return process.uptime() * 1000;
}

async function timedOut(path: string): Promise<WaError> {
  const owner = await readLockOwner(path);
  const holder = owner ? `process ${owner.pid} on ${owner.host}` : 'another process';
  return new WaError('lock_timeout', `${path}.lock is held by ${holder}`, {
    hint: `Try again; if no such process exists, remove ${path}.lock.`,
  });
}
