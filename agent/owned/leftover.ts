// Ends what a dead daemon left running of an owned session, so that no two processes ever write to one session.

import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ownedFolder, ownedVariable } from '../../protocol/hook.ts';
import { isAlive, isOver, startOf } from '../process.ts';

export interface Child {
  /** The value of `ownedVariable`; unpredictable. */
  id: string;
  pid?: number;
  /** Of `birthOf`. */
  started?: string;
}

const lookEveryMs = 20;
const waitMs = 5_000;
const maxMarks = 100;

/** What tells a process from a later one with its pid; '' = not known. */
export async function birthOf(pid: number): Promise<string> {
  if (process.platform === 'linux') return startOf(pid) ?? '';
  if (process.platform === 'win32') return '';
  return new Promise((resolve) => {
    execFile('ps', ['-o', 'lstart=', '-p', String(pid)], { timeout: 1_000 }, (error, stdout) => {
      resolve(error ? '' : stdout.trim());
    });
  });
}

/** Returns how many processes it ended. Never touches a process that is not certainly of this child. */
export async function endLeftover(child: Child): Promise<number> {
  const pids = process.platform === 'linux' ? markedWith(child.id) : await leaderOf(child);
  for (const pid of pids) kill(pid);
  if (child.pid !== undefined && pids.includes(child.pid)) kill(-child.pid);
  const until = Date.now() + waitMs;
  const started = new Map(pids.map((pid) => [pid, startOf(pid) ?? '']));
  while (pids.some((pid) => !isOver({ pid, started: started.get(pid) ?? '' })) && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
  return pids.length;
}

/** The same for every mark that a dead daemon left, whatever became of its journal. Never rejects. */
export async function endMarked(runtimeDir: string): Promise<number> {
  const names = await readdir(join(runtimeDir, ownedFolder)).catch((): string[] => []);
  const ids = names.filter((name) => /^[0-9a-f]{32}$/.test(name)).slice(0, maxMarks);
  let ended = 0;
  for (const id of ids) ended += await endLeftover({ id });
  return ended;
}

/** Whether a process is of that child: its own hooks must not be taken for a terminal. */
export function isOf({ id, pid: leader }: Child, pid: number): boolean {
  return pid === leader || (process.platform === 'linux' && isMarked(pid, id));
}

function isMarked(pid: number | string, id: string): boolean {
  try {
    return `${readFileSync(`/proc/${pid}/environ`, 'latin1')}\0`.includes(`${ownedVariable}=${id}\0`);
  } catch {
    return false;
  }
}

/** Also those that left the group, and those whose parent is gone. */
function markedWith(id: string): number[] {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) && isMarked(name, id) ? [Number(name)] : []));
}

async function leaderOf({ pid, started }: Child): Promise<number[]> {
  if (pid === undefined || !started || !isAlive(pid)) return [];
  return (await birthOf(pid)) === started ? [pid] : [];
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone in this moment.
  }
}
