// One lock file: who owns it, whether that owner is gone, and its removal by exactly one process. Waits for nothing.

import { link, unlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { randomHex } from '../crypto.ts';
import { isOver, pidSpace, startOf } from '../process.ts';
import { fileUnusable, temporaryPath } from './atomic.ts';
import { readRaw } from './raw-file.ts';

export interface LockOwner {
  pid: number;
  host: string;
  /** Process ids count only in one of these; empty where the OS has none. */
  pidSpace: string;
  /** What tells one process from a later one with the same pid; empty where the OS does not say. */
  started: string;
  at: number;
  nonce: string;
}

/**
 * When an owner that cannot be asked is given up. `short`: a writer needs milliseconds, so an old lock is stale whatever its
 * owner. `process`: held as long as its process lives; only a dead owner's is stale. `ticket`: as `process`, but old ones of
 * other machines are stale, since nobody could ever ask there, and those of an hour, since a ticket is held for a moment.
 */
export type LockLife = 'short' | 'process' | 'ticket';

export interface SeenLock {
  /** Undefined = empty or torn: its maker died between two system calls. */
  owner: LockOwner | undefined;
  /** Names this one lock among all that ever stood here. */
  mark: string;
  modifiedAtMs: number;
}

export const shortStaleMs = 60_000;
const unreadableStaleMs = 10_000;
const ticketStaleMs = 3_600_000;
const maxLockBytes = 4 * 1024;

/** What a disk without hard links answers. */
const noLinks = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

export function newOwner(): LockOwner {
  return {
    pid: process.pid,
    host: hostname(),
    pidSpace: pidSpace(),
    started: startOf(process.pid) ?? '',
    at: Date.now(),
    nonce: randomHex(8),
  };
}

/** Undefined = not locked. Errors: `file_unusable`. */
export async function readLock(lockPath: string): Promise<SeenLock | undefined> {
  const file = await readRaw(lockPath, maxLockBytes);
  if (!file) return undefined;
  const owner = parseOwner(file.bytes.toString('utf8'));
  const { modifiedAtMs } = file;
  return { owner, mark: owner?.nonce ?? `torn-${file.inode}-${modifiedAtMs}`, modifiedAtMs };
}

/** Appears whole or not at all. False = another one stands there. Errors: `file_unusable`. */
export async function placeLock(lockPath: string, owner: LockOwner): Promise<boolean> {
  const temporary = temporaryPath(lockPath);
  const content = JSON.stringify(owner);
  try {
    await writeFile(temporary, content, { flag: 'wx', mode: 0o600 });
    await link(temporary, lockPath).catch((cause) => {
      if (!noLinks.has(cause.code)) throw cause;
      return writeFile(lockPath, content, { flag: 'wx', mode: 0o600 });
    });
    return true;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    // Windows says so of a lock that is just being removed.
    if (process.platform === 'win32' && (code === 'EPERM' || code === 'EACCES')) return false;
    throw fileUnusable(lockPath, cause);
  } finally {
    await unlink(temporary).catch(() => {});
  }
}

/** True = a stale lock was removed by us, so that the place may be free now. */
export async function removeStale(lockPath: string, seen: SeenLock, life: LockLife): Promise<boolean> {
  return isStale(seen, life) && removeMarked(lockPath, seen.mark);
}

/**
 * Removes this lock and no other: whoever wants to must hold the one ticket that is named after it, and looks again with the
 * ticket in hand. So a slow remover finds another lock there, or none, and leaves it alone.
 */
export async function removeMarked(lockPath: string, mark: string): Promise<boolean> {
  const ticketPath = join(dirname(lockPath), `.wa-tmp-ticket-${basename(lockPath)}-${mark}`);
  const ticket = newOwner();
  if (!(await placeLock(ticketPath, ticket))) {
    const other = await readLock(ticketPath);
    if (other) await removeStale(ticketPath, other, 'ticket');
    return false;
  }
  try {
    const current = await readLock(lockPath);
    if (current?.mark !== mark) return false;
    await unlink(lockPath);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw cause instanceof WaError ? cause : fileUnusable(lockPath, cause);
  } finally {
    await unlink(ticketPath).catch(() => {});
  }
}

function isStale({ owner, modifiedAtMs }: SeenLock, life: LockLife): boolean {
  // A time in the future is as stale as an old one: the clock was set, or a cloned repository brought the lock.
  const ageMs = Math.abs(Date.now() - (owner?.at ?? modifiedAtMs));
  if (!owner) return ageMs > unreadableStaleMs;
  const isOld = ageMs > shortStaleMs;
  const canBeAsked = owner.host === hostname() && owner.pidSpace === pidSpace();
  if (!canBeAsked) return isOld && life !== 'process';
  if (isOver(owner)) return true;
  return life === 'ticket' ? ageMs > ticketStaleMs : isOld && life === 'short';
}

function parseOwner(text: string): LockOwner | undefined {
  try {
    const { pid, host, pidSpace, started, at, nonce } = JSON.parse(text) as Record<string, unknown>;
    if (!Number.isSafeInteger(pid) || typeof host !== 'string' || typeof at !== 'number') return undefined;
    // It becomes part of a file name.
    if (typeof nonce !== 'string' || !/^[0-9a-f]{16}$/.test(nonce)) return undefined;
    if (typeof pidSpace !== 'string' || typeof started !== 'string') return undefined;
    return { pid: pid as number, host, pidSpace, started, at, nonce };
  } catch {
    return undefined;
  }
}
