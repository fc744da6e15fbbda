// A lock file that names its owner, held by processes of this user on this machine; a dead owner's lock is taken over by exactly
// one process. Written here and not taken from a library: the hook fallback imports no package, and each millisecond of its start counts.

import { link, unlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { randomHex } from '../crypto.ts';
import { isOver, pidSpace, startOf } from '../process.ts';
import { fileUnusable, temporaryPath } from './atomic.ts';
import { readRaw } from './raw-file.ts';

export interface HeldLock {
  /** Idempotent, never rejects: a lock that cannot be removed becomes stale. */
  release(): Promise<void>;
}

export interface LockOptions {
  timeoutMs: number;
  /** False = held for the life of the process: only a dead owner's lock is stale, never an old one. */
  short: boolean;
}

export interface LockOwner {
  pid: number;
  host: string;
  /** Process ids are comparable only within one such space; empty where the OS has none. */
  pidSpace: string;
  /** Start of the process, which distinguishes it from a later process with the same pid; empty where the OS does not tell. */
  started: string;
  at: number;
  nonce: string;
}

/**
 * When a lock is stale. `short`: an old lock is stale whatever its owner, because a writer needs milliseconds. `process`: held as
 * long as its process lives; only the lock of a dead owner is stale. `ticket`: as `process`, but an old ticket of another machine is
 * stale, because that process cannot be checked, and so is any ticket of an hour, because a ticket is held for a moment.
 */
type LockLife = 'short' | 'process' | 'ticket';

interface SeenLock {
  /** Undefined = empty or torn: its writer died between two system calls. */
  owner: LockOwner | undefined;
  /** Unique among all locks of this path. */
  mark: string;
  modifiedAtMs: number;
}

const stepMs = 4;
/** The waiting callers of this process, per lock: they do not poll the lock file. */
const waitingFor = new Map<string, (() => void)[]>();
const shortStaleMs = 60_000;
const unreadableStaleMs = 10_000;
const ticketStaleMs = 3_600_000;
const maxLockBytes = 4 * 1024;

/** Errors of a disk without hard links. */
const noLinks = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/**
 * `path` is what is locked; the lock is `<path>.lock`. Callers within one process get it in the order in which they asked.
 * Errors: `lock_timeout` naming the owner, `file_unusable`.
 */
export async function acquireLock(path: string, { timeoutMs, short }: LockOptions): Promise<HeldLock> {
  const lockPath = `${resolve(path)}.lock`;
  const untilMs = uptimeMs() + timeoutMs;
  if (!(await enterQueue(lockPath, timeoutMs))) throw await timedOut(path);
  try {
    for (;;) {
      const seen = await readLock(lockPath);
      if (seen) {
        if (await removeStale(lockPath, seen, short ? 'short' : 'process')) continue;
      } else {
        const owner = newOwner();
        if (await placeLock(lockPath, owner)) return held(lockPath, owner, short);
      }
      if (uptimeMs() >= untilMs) throw await timedOut(path);
      // The random part keeps waiting processes out of step.
      await new Promise((done) => setTimeout(done, stepMs * (0.5 + Math.random())));
    }
  } catch (cause) {
    leaveQueue(lockPath);
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

function held(lockPath: string, owner: LockOwner, short: boolean): HeldLock {
  let released: Promise<void> | undefined;
  const release = async () => {
    try {
      const seen = await readLock(lockPath);
      if (seen?.mark !== owner.nonce) return;
      const mayBeStolenNow = short && Date.now() - owner.at > shortStaleMs / 2;
      if (mayBeStolenNow) await removeMarked(lockPath, owner.nonce);
      else await unlink(lockPath);
    } catch {
      // The lock becomes stale, at the latest when this process ends.
    } finally {
      leaveQueue(lockPath);
    }
  };
  return { release: () => (released ??= release()) };
}

/** False = the turn did not come within `timeoutMs`; true = the caller must leave the queue once. */
async function enterQueue(name: string, timeoutMs: number): Promise<boolean> {
  const waiting = waitingFor.get(name);
  if (!waiting) {
    waitingFor.set(name, []);
    return true;
  }
  return new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(enter), 1);
      resolve(false);
    }, timeoutMs);
    const enter = () => {
      clearTimeout(timer);
      resolve(true);
    };
    waiting.push(enter);
  });
}

function leaveQueue(name: string): void {
  const next = waitingFor.get(name)?.shift();
  if (next) next();
  else waitingFor.delete(name);
}

/** Not `performance.now()`: its first use in a process costs as much as the rest of a lock. */
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

/** Creates the lock whole or not at all. False = another lock exists. Errors: `file_unusable`. */
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
    // The error of Windows for a lock that is being removed.
    if (process.platform === 'win32' && (code === 'EPERM' || code === 'EACCES')) return false;
    throw fileUnusable(lockPath, cause);
  } finally {
    await unlink(temporary).catch(() => {});
  }
}

/** True = this call removed a stale lock, so the place may be free. */
export async function removeStale(lockPath: string, seen: SeenLock, life: LockLife): Promise<boolean> {
  return isStale(seen, life) && removeMarked(lockPath, seen.mark);
}

/**
 * Removes this lock and no other. A remover must hold the ticket that is named after the lock, and reads the lock again while it
 * holds the ticket. A slow remover then finds another lock, or none, and leaves it alone.
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
  // A time in the future counts as old: the clock was changed, or a cloned repository contained the lock.
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
    // The nonce becomes part of a file name.
    if (typeof nonce !== 'string' || !/^[0-9a-f]{16}$/.test(nonce)) return undefined;
    if (typeof pidSpace !== 'string' || typeof started !== 'string') return undefined;
    return { pid: pid as number, host, pidSpace, started, at, nonce };
  } catch {
    return undefined;
  }
}
