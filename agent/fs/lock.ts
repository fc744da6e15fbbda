// A lock file that names its owner, held by processes of this user on this machine; a dead owner's lock is taken over by exactly
// one process. Written here and not taken from a library: the hook fallback imports no package, and each millisecond of its start counts.

import { link, unlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { randomHex } from '../crypto.ts';
import { hostName, isOver, pidSpace, startOf } from '../process.ts';
import { fileUnusable, temporaryPath } from './atomic.ts';
import { readRaw } from './raw-file.ts';

export interface HeldLock {
  /** Idempotent, never rejects: a lock that cannot be removed becomes stale. */
  release(): Promise<void>;
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

interface SeenLock {
  /** Undefined = empty or torn: its writer died between two system calls. */
  owner: LockOwner | undefined;
  /** Unique among all locks of this path. */
  mark: string;
  modifiedAtMs: number;
}

const stepMs = 4;
/** Per lock, the turn of the last caller in this process: only the first caller polls the lock file. */
const lastTurns = new Map<string, Promise<void>>();
const shortStaleMs = 60_000;
/** A ticket is held for a moment; a process that the machine's sleep stopped in that moment still holds the ticket. */
const ticketStaleMs = 3_600_000;
const unreadableStaleMs = 10_000;
const maxLockBytes = 4 * 1024;
/** The nonce becomes part of a file name. */
const nonceForm = /^[0-9a-f]{16}$/;

/** Errors of a disk without hard links. */
const noLinks = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/**
 * `path` is what is locked; the lock is `<path>.lock`. Callers within one process get it in the order in which they asked. `short` = held
 * for milliseconds, so an old lock is stale whatever its owner; else only the lock of a dead owner is stale. Errors: `lock_timeout`
 * naming the owner, `file_unusable`.
 */
export async function acquireLock(
  path: string,
  { timeoutMs, short }: { timeoutMs: number; short: boolean },
): Promise<HeldLock> {
  const lockPath = `${resolve(path)}.lock`;
  // Not `performance.now()`: its first use in a process costs as much as the rest of a lock.
  const untilSeconds = process.uptime() + timeoutMs / 1000;
  const endTurn = await takeTurn(lockPath, timeoutMs);
  try {
    while (endTurn) {
      const seen = await readLock(lockPath);
      if (seen) {
        if (await removeStale(lockPath, seen, short ? shortStaleMs : Number.POSITIVE_INFINITY)) continue;
      } else {
        const owner = newOwner();
        if (await placeLock(lockPath, owner)) return held(lockPath, owner, endTurn);
      }
      if (process.uptime() >= untilSeconds) break;
      // The random part keeps waiting processes out of step.
      await new Promise((done) => setTimeout(done, stepMs * (0.5 + Math.random())));
    }
    throw await timedOut(path);
  } catch (cause) {
    endTurn?.();
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

function held(lockPath: string, { nonce, at }: LockOwner, endTurn: () => void): HeldLock {
  let released: Promise<void> | undefined;
  const release = async () => {
    try {
      const seen = await readLock(lockPath);
      if (seen?.mark !== nonce) return;
      const mayBeStolenNow = Date.now() - at > shortStaleMs / 2;
      if (mayBeStolenNow) await removeMarked(lockPath, nonce);
      else await unlink(lockPath);
    } catch {
      // The lock becomes stale, at the latest when this process ends.
    } finally {
      endTurn();
    }
  };
  return { release: () => (released ??= release()) };
}

/** Waits for the earlier callers of this process. Returns what ends the turn; undefined = the turn did not come within `timeoutMs`. */
async function takeTurn(name: string, timeoutMs: number): Promise<(() => void) | undefined> {
  const earlier = lastTurns.get(name);
  let end = () => {};
  const mine = new Promise<void>((resolve) => {
    end = resolve;
  });
  const turn = Promise.all([earlier, mine]).then(() => {
    if (lastTurns.get(name) === turn) lastTurns.delete(name);
  });
  lastTurns.set(name, turn);
  if (!earlier) return end;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, 'late');
  });
  const first = await Promise.race([earlier, timeout]);
  clearTimeout(timer);
  if (first !== 'late') return end;
  end();
  return undefined;
}

async function timedOut(path: string): Promise<WaError> {
  const owner = await readLockOwner(path);
  const holder = owner ? `process ${owner.pid} on ${owner.host}` : 'another process';
  return new WaError('lock_timeout', `${path}.lock is held by ${holder}`, {
    hint: `Try again; if no such process exists, remove ${path}.lock.`,
  });
}

/** What stays the same as long as this process lives. */
let ownProcess: Pick<LockOwner, 'pid' | 'pidSpace' | 'started'> | undefined;

export function newOwner(): LockOwner {
  ownProcess ??= { pid: process.pid, pidSpace: pidSpace(), started: startOf(process.pid) ?? '' };
  return {
    ...ownProcess,
    host: hostName(),
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
  const temporary = temporaryPath(lockPath, owner.nonce.slice(4));
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
export async function removeStale(lockPath: string, seen: SeenLock, staleAfterMs: number): Promise<boolean> {
  return isStale(seen, staleAfterMs) && removeMarked(lockPath, seen.mark);
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
    if (other) await removeStale(ticketPath, other, ticketStaleMs);
    return false;
  }
  try {
    const current = await readLock(lockPath);
    if (current?.mark !== mark) return false;
    await unlink(lockPath);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw fileUnusable(lockPath, cause);
  } finally {
    await unlink(ticketPath).catch(() => {});
  }
}

/** `staleAfterMs` = when a lock is stale whatever its owner. */
function isStale({ owner, modifiedAtMs }: SeenLock, staleAfterMs: number): boolean {
  // A time in the future counts as old: the clock was changed, or a cloned repository contained the lock.
  const ageMs = Math.abs(Date.now() - (owner?.at ?? modifiedAtMs));
  if (!owner) return ageMs > unreadableStaleMs;
  if (ageMs > staleAfterMs) return true;
  return owner.host === hostName() && owner.pidSpace === pidSpace() && isOver(owner);
}

function parseOwner(text: string): LockOwner | undefined {
  try {
    const owner = JSON.parse(text) as LockOwner;
    const { pid, host, pidSpace: space, started, at, nonce } = owner;
    const areTexts = [host, space, started, nonce].every((each) => typeof each === 'string');
    const isWhole = Number.isSafeInteger(pid) && typeof at === 'number' && areTexts && nonceForm.test(nonce);
    return isWhole ? owner : undefined;
  } catch {
    return undefined;
  }
}
