// The outside of the doctor, for real: programs with a time limit, disks, the clock.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { killGroup, ownGroup } from '../process.ts';
import type { Asked, AskOptions, Disk, Ran, RunOptions } from './world.ts';

const defaultMs = 10_000;
const maxOutputChars = 64 * 1024;
const askMs = 15_000;
/** For all lines of an exchange. */
const maxAskedChars = 4 * 1024 * 1024;
/** Between the end of its stdin and its own end. */
const leaveMs = 2_000;

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

/** Ends the program and all that it started. Never rejects. */
export async function askProgram(
  program: string,
  args: readonly string[],
  { input, isAnswer, env, cwd, timeoutMs = askMs }: AskOptions,
): Promise<Asked> {
  let child: ChildProcessByStdio<Writable, Readable, null>;
  try {
    child = spawn(program, args, {
      stdio: ['pipe', 'pipe', 'ignore'],
      windowsHide: true,
      detached: ownGroup,
      env,
      cwd,
    });
  } catch (cause) {
    return { why: `does not start (${(cause as NodeJS.ErrnoException).code})` };
  }
  const kill = () => {
    child.stdout.destroy();
    killGroup(child);
  };
  return new Promise((resolve) => {
    let asked: Asked | undefined;
    let timer = setTimeout(() => finish({ why: `did not answer within ${timeoutMs / 1000} s` }), timeoutMs);
    const finish = (found: Asked) => {
      if (asked) return;
      asked = found;
      clearTimeout(timer);
      child.stdin.end();
      if ('line' in found) timer = setTimeout(kill, leaveMs);
      else kill();
    };
    const lines = linesUpTo(maxAskedChars, () => finish({ why: 'answered more than can be read' }));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const line = asked ? undefined : lines(text).find(isAnswer);
      if (line !== undefined) finish({ line });
    });
    child.once('error', ({ message }) => finish({ why: `does not start (${message})` }));
    child.once('close', (code, signal) => {
      finish({ why: `ended with ${code ?? signal} before it answered` });
      clearTimeout(timer);
      kill();
      resolve(asked as Asked);
    });
    child.stdin.on('error', () => {});
    child.stdin.write(input);
  });
}

/** Whole lines of a text that comes in pieces. */
function linesUpTo(maxChars: number, onTooMuch: () => void): (piece: string) => string[] {
  let rest = '';
  let taken = 0;
  return (piece) => {
    taken += piece.length;
    if (taken > maxChars) {
      onTooMuch();
      return [];
    }
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    return lines;
  };
}

export async function readDisk(path: string): Promise<Disk | undefined> {
  try {
    const { bavail, bsize, type } = await statfs(path);
    return { freeBytes: bavail * bsize, type: process.platform === 'linux' ? type : 0 };
  } catch {
    return undefined;
  }
}
