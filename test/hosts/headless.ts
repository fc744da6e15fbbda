// One run of a coding agent without a terminal.

import { spawn } from 'node:child_process';
import { outputOf } from '../helpers/output.ts';
import { endTree } from './processes.ts';

export interface HeadlessRun {
  command: readonly string[];
  cwd: string;
  /** The whole environment. */
  env: Record<string, string>;
  timeoutMs: number;
}

export interface HeadlessResult {
  stdout: string;
  stderr: string;
  code: number | null;
}

/** A run over its time is ended with its children and rejects, showing its output so far. */
export function runToItsEnd({ command, cwd, env, timeoutMs }: HeadlessRun): Promise<HeadlessResult> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own, so that hooks that outlive the agent are found.
    detached: true,
  });
  const output = outputOf(child);
  return new Promise((resolve, reject) => {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      if (child.pid) endTree(child.pid).catch(reject);
    }, timeoutMs);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      if (!late) return resolve({ ...output, code });
      reject(
        new Error(
          `${command.join(' ')} did not end within ${timeoutMs} ms.\nstdout: ${output.stdout}\nstderr: ${output.stderr}`,
        ),
      );
    });
  });
}
