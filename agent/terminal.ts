// Finds out whether a process runs in a terminal with a person, because a headless run with a held hook would never end.

import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';

type IsOne = (argv: readonly string[]) => boolean;

/** Of a coding agent. */
export interface KindsOfRun {
  /** True for the command line of a run without a person. */
  isHeadless: IsOne;
  /** True for the command line of a process that runs the sessions of several terminals. */
  isServer?: IsOne;
}

/** Whether a person may sit at the process, or at a terminal of the server. False when the process cannot be inspected. */
export async function isInteractive(pid: number, { isHeadless, isServer }: KindsOfRun): Promise<boolean> {
  try {
    if (process.platform === 'win32') return false;
    if (isServer && (await isServerProcess(pid, isServer))) return true;
    return process.platform === 'linux' ? await onLinux(pid, isHeadless) : await byPs(pid, isHeadless);
  } catch {
    return false;
  }
}

/** False when the process cannot be inspected. */
export async function isServerProcess(pid: number, isServer: IsOne): Promise<boolean> {
  if (process.platform === 'win32') return false;
  if (process.platform === 'linux') return argumentsOf(pid).then(isServer, () => false);
  return new Promise((resolve) => {
    execFile('ps', ['-o', 'args=', '-p', String(pid)], { timeout: 1_000 }, (error, stdout) => {
      resolve(!error && isServer(stdout.trim().split(/\s+/)));
    });
  });
}

async function argumentsOf(pid: number): Promise<string[]> {
  return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
}

async function onLinux(pid: number, isHeadless: IsOne): Promise<boolean> {
  if (isHeadless(await argumentsOf(pid))) return false;
  const ends = await Promise.all([0, 1].map((fd) => readlink(`/proc/${pid}/fd/${fd}`)));
  return ends.every((end) => /^\/dev\/(pts\/|tty)/.test(end));
}

function byPs(pid: number, isHeadless: IsOne): Promise<boolean> {
  return new Promise((resolve) => {
    execFile('ps', ['-o', 'tty=,args=', '-p', String(pid)], { timeout: 1_000 }, (error, stdout) => {
      resolve(!error && isTerminalLine(stdout, isHeadless));
    });
  });
}

/** `line` = the output of `ps -o tty=,args=` for one process: `ttys001  node /opt/bin/agent`; `??` or `-` = no terminal. */
export function isTerminalLine(line: string, isHeadless: IsOne): boolean {
  const [tty = '', ...args] = line.trim().split(/\s+/);
  return /^\w/.test(tty) && !isHeadless(args);
}
