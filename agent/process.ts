// Other processes of this machine: questions about them, and the end of those that wa-sync has started.

import type { ChildProcess } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { ownerSecrets } from '../protocol/telegram-settings.ts';

/** True also for a process of another user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Linux: start in clock ticks since boot. Empty = unknown on this OS; undefined = a zombie. */
export function startOf(pid: number): string | undefined {
  if (process.platform !== 'linux') return '';
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : (fields[19] ?? '');
  } catch {
    return '';
  }
}

/** Windows has no process groups. */
export const ownGroup = process.platform !== 'win32';

/** Ends a process that was started with `detached: ownGroup`, and its group with it, also when the process itself has ended. */
export function killGroup(child: ChildProcess): void {
  try {
    if (ownGroup && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // Nobody of the group is left.
  }
}

/** The namespace of process ids: containers may share a host name or a folder, but not the ids. */
export function pidSpace(): string {
  if (process.platform !== 'linux') return '';
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

/** Of this machine. Linux has the name in a file, which a hook reads sooner than it loads node:os. */
export function hostName(): string {
  try {
    if (process.platform === 'linux') return readFileSync('/proc/sys/kernel/hostname', 'utf8').trim();
  } catch {
    // Without /proc.
  }
  return process.getBuiltinModule('node:os').hostname();
}

/** True when the process with this pid and start has ended, also when another process has the pid now. */
export function isOver({ pid, started }: { pid: number; started: string }): boolean {
  if (!isAlive(pid)) return true;
  const now = startOf(pid);
  return now === undefined || (now !== '' && started !== '' && now !== started);
}

/** Variables that may hold a secret; no process that wa-sync starts needs one of them. */
const secretVariables = new Set([
  ...ownerSecrets,
  'WA_AGENT_TOKEN',
  'CLOUDFLARE_API_TOKEN',
  'CLOUDFLARE_API_KEY',
  'CF_API_TOKEN',
  'CF_API_KEY',
]);

/** The environment for a process that wa-sync starts. */
export function withoutSecrets(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !secretVariables.has(entry[0]),
    ),
  );
}
