// Ends what a test has started, by process id: the tree below it and its process group. Never looks for names.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execFileAsync = promisify(execFile);
const politeMs = 3_000;
const limitMs = 10_000;

/** SIGTERM to the root, SIGKILL to whatever of the tree or the root's process group is left. Throws when some survive. */
export async function endTree(rootPid: number): Promise<void> {
  const tree = await pidsOfTree(rootPid);
  signal(rootPid, 'SIGTERM');
  if (await until(async () => (await running(tree)).length === 0, politeMs)) return;
  const rest = [...new Set([...tree, ...(await pidsOfTree(rootPid))])];
  for (const pid of await running(rest)) signal(pid, 'SIGKILL');
  if (await until(async () => (await running(rest)).length === 0, limitMs)) return;
  throw new Error(`Processes ${await running(rest)} outlived SIGKILL.`);
}

/** A signal to a process that has ended meanwhile is no error. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Those of the pids that still run. One that only waits to be reaped by its parent has ended. */
export async function running(pids: number[]): Promise<number[]> {
  const found = new Set((await processes()).map(({ pid }) => pid));
  return pids.filter((pid) => found.has(pid));
}

/** Polls until the condition holds or the time is over; says which. */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return true;
}

/** The root, its descendants, and the members of its process group: a hook whose parent has died stays in the group. */
async function pidsOfTree(rootPid: number): Promise<number[]> {
  const all = await processes();
  const found = new Set(all.filter(({ pid, group }) => pid === rootPid || group === rootPid).map(({ pid }) => pid));
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return [...found];
}

async function processes(): Promise<{ pid: number; parent: number; group: number }[]> {
  const { stdout } = await execFileAsync('ps', ['-Ao', 'pid=,ppid=,pgid=,stat=']);
  const rows = stdout.trim().split('\n');
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, , , state]) => !state?.startsWith('Z'))
    .map(([pid, parent, group]) => ({ pid: Number(pid), parent: Number(parent), group: Number(group) }));
}
