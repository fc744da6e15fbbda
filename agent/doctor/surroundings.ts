// The outside of the doctor, for real: programs with a time limit, disks, the clock.

import { spawn } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import type { Disk, Ran, RunOptions } from './world.ts';

const defaultMs = 10_000;
const maxOutputChars = 64 * 1024;

/** Never rejects. The program gets no terminal. */
export function runProgram(
  program: string,
  args: readonly string[],
  { input = '', timeoutMs = defaultMs, env, cwd }: RunOptions = {},
): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
      ...(env ? { env } : {}),
      ...(cwd ? { cwd } : {}),
    });
    const out = { stdout: '', stderr: '' };
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      child.kill('SIGKILL');
      child.stdout.destroy();
      child.stderr.destroy();
    }, timeoutMs);
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        if (out[name].length < maxOutputChars) out[name] += text;
      });
    }
    const end = (code: number | null) => {
      clearTimeout(timer);
      resolve({ code: isLate ? null : code, ...out });
    };
    child.once('error', () => end(127));
    child.once('close', (code) => end(code ?? 128));
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

export async function readDisk(path: string): Promise<Disk | undefined> {
  try {
    const { bavail, bsize, type } = await statfs(path);
    return { freeBytes: bavail * bsize, type: process.platform === 'linux' ? type : 0 };
  } catch {
    return undefined;
  }
}
