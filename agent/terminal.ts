// Whether a process is somebody's terminal: what a held hook must know, because a headless run that waits never ends.

import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';

/** Flags of a run without a person: a prompt of its own, or a protocol on stdio. */
const headless = /^(-p|--prompt|--acp|--experimental-acp)(=|$)/;

/** False when it cannot be seen. */
export async function isInteractive(pid: number): Promise<boolean> {
  try {
    if (process.platform === 'win32') return false;
    return process.platform === 'linux' ? await onLinux(pid) : await byPs(pid);
  } catch {
    return false;
  }
}

async function onLinux(pid: number): Promise<boolean> {
  const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
  if (args.some((arg) => headless.test(arg))) return false;
  const ends = await Promise.all([0, 1].map((fd) => readlink(`/proc/${pid}/fd/${fd}`)));
  return ends.every((end) => /^\/dev\/(pts\/|tty)/.test(end));
}

function byPs(pid: number): Promise<boolean> {
  return new Promise((resolve) => {
    execFile('ps', ['-o', 'tty=,args=', '-p', String(pid)], { timeout: 1_000 }, (error, stdout) => {
      resolve(!error && isTerminalLine(stdout));
    });
  });
}

/** What `ps -o tty=,args=` says of one process: `ttys001  node /opt/bin/gemini`; `??` or `-` = it has no terminal. */
export function isTerminalLine(line: string): boolean {
  const [tty = '', ...args] = line.trim().split(/\s+/);
  return /^\w/.test(tty) && !args.some((arg) => headless.test(arg));
}
