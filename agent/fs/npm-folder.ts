// A folder of packages that npm installs on first use: it is there whole or not at all, and one process installs it.

import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { acquireLock } from './lock.ts';

const installLimitMs = 10 * 60_000;
const complaintChars = 500;

/** What npm said. */
export class NpmError extends Error {
  /** npm itself is not there. */
  readonly isMissing: boolean;

  constructor(message: string, isMissing: boolean) {
    super(message);
    this.isMissing = isMissing;
  }
}

/**
 * `fill` gets an empty folder, which takes the place of `dir` when it is full. Nothing is done when `isThere` after the wait for another
 * process. Errors: those of `fill`, `lock_timeout`.
 */
export async function installFolder(
  dir: string,
  fill: (fresh: string) => Promise<void>,
  isThere: () => boolean | Promise<boolean> = () => false,
): Promise<void> {
  await mkdir(dirname(dir), { recursive: true });
  const lock = await acquireLock(dir, { timeoutMs: installLimitMs, short: false });
  try {
    if (await isThere()) return;
    const fresh = await mkdtemp(`${dir}.new-`);
    try {
      await fill(fresh);
      await rm(dir, { recursive: true, force: true });
      await rename(fresh, dir);
    } finally {
      await rm(fresh, { recursive: true, force: true });
    }
  } finally {
    await lock.release();
  }
}

/** Runs npm in `dir`. Errors: `NpmError`. */
export function runNpm(args: readonly string[], dir: string, env: NodeJS.ProcessEnv = process.env): Promise<void> {
  return new Promise((resolve, reject) => {
    const windows = process.platform === 'win32';
    // On Windows npm is a script that only a shell runs. No argument comes from outside, but a path needs quotes.
    const quoted = windows ? args.map((arg) => (arg.includes(' ') ? `"${arg}"` : arg)) : args;
    const stdio = ['ignore', 'ignore', 'pipe'] as const;
    const child = spawn('npm', quoted, { cwd: dir, shell: windows, stdio: [...stdio], env, timeout: installLimitMs });
    let complaint = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-complaintChars);
    });
    child.on('error', (cause) => reject(new NpmError(`npm does not start: ${cause.message}`, true)));
    child.on('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new NpmError(`npm ${args[0]} ended with ${code ?? signal}: ${complaint.trim()}`, false));
    });
  });
}
