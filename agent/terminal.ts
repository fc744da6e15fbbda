// Finds out whether a process runs in a terminal with a person, because a headless run with a held hook would never end.

import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';

/** True for the command line of a run without a person. */
type IsHeadless = (argv: readonly string[]) => boolean;

/** False when the process cannot be inspected. */
export async function isInteractive(pid: number, isHeadless: IsHeadless): Promise<boolean> {
  try {
    if (process.platform === 'win32') return false;
    return process.platform === 'linux' ? await onLinux(pid, isHeadless) : await byPs(pid, isHeadless);
  } catch {
    return false;
  }
}

async function onLinux(pid: number, isHeadless: IsHeadless): Promise<boolean> {
  const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
  if (isHeadless(args)) return false;
  const ends = await Promise.all([0, 1].map((fd) => readlink(`/proc/${pid}/fd/${fd}`)));
  return ends.every((end) => /^\/dev\/(pts\/|tty)/.test(end));
}

function byPs(pid: number, isHeadless: IsHeadless): Promise<boolean> {
  return new Promise((resolve) => {
    execFile('ps', ['-o', 'tty=,args=', '-p', String(pid)], { timeout: 1_000 }, (error, stdout) => {
      resolve(!error && isTerminalLine(stdout, isHeadless));
    });
  });
}

/** `line` = the output of `ps -o tty=,args=` for one process: `ttys001  node /opt/bin/agent`; `??` or `-` = no terminal. */
export function isTerminalLine(line: string, isHeadless: IsHeadless): boolean {
  const [tty = '', ...args] = line.trim().split(/\s+/);
  return /^\w/.test(tty) && !isHeadless(args);
}
