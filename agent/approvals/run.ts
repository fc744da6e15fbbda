// Programs that a policy asks for: a command after a tool, and git for a checkpoint. Bounded in time and output.

import { type ChildProcessWithoutNullStreams, execFile, type SpawnOptions, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import { killGroup, ownGroup } from '../process.ts';

const execute = promisify(execFile);

export interface Ran {
  /** Null = it was killed; `late` = wa-sync killed it, because its time was over. */
  code: number | 'late' | null;
  /** Both streams as they came, the last part when it is long: longer than what may be shown once it is redacted. */
  output: string;
  /** One stream, whole up to `maxStdout`; what comes beyond is marked as left out. */
  stdout: string;
}

export interface RunOptions {
  cwd: string;
  stdin: string;
  /** Then it is ended with all that it started. */
  timeoutMs: number;
  /** Ends it before. */
  signal?: AbortSignal;
}

/** More than is shown, because no pattern finds half a secret at a cut. */
const maxOutput = 16_000;
const maxStdout = 400_000;

/** `sh -c` (Windows: cmd) in a process group of its own; never rejects. */
export function runCommand(command: string, options: RunOptions): Promise<Ran> {
  return new Promise((resolve) => {
    const child = started(command, { cwd: options.cwd, shell: true, detached: ownGroup, windowsHide: true });
    if (child instanceof Error) {
      resolve({ code: 127, output: child.message, stdout: '' });
      return;
    }
    let output = '';
    let stdout = '';
    let leftOut = 0;
    let late = false;
    let timer: NodeJS.Timeout | undefined;
    const take = (chunk: string) => {
      output = (output + chunk).slice(-maxOutput);
    };
    const finish = (code: number | null, text = '') => {
      clearTimeout(timer);
      resolve({
        code: late ? 'late' : code,
        output: (output + text).trim(),
        stdout: leftOut === 0 ? stdout : `${stdout}\n[${leftOut} characters left out by wa-sync]`,
      });
    };
    child.once('error', (cause) => finish(127, cause.message));
    // Where the system has no descriptors left there are no streams; the error follows.
    if (!child.stdout) return;
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      take(chunk);
      const kept = chunk.slice(0, maxStdout - stdout.length);
      stdout += kept;
      leftOut += chunk.length - kept.length;
    });
    child.stderr.setEncoding('utf8').on('data', take);
    const end = () => {
      killGroup(child);
      // A process that left the group may keep the streams open.
      child.stdout.destroy();
      child.stderr.destroy();
    };
    timer = setTimeout(() => {
      late = true;
      end();
    }, options.timeoutMs);
    options.signal?.addEventListener('abort', end);
    child.once('close', (code) => finish(code));
    // Many commands do not read it.
    child.stdin.on('error', () => {}).end(options.stdin);
  });
}

/** What cannot run at all (too long, a NUL in it, no memory) is thrown by Node, other trouble is an event. */
function started(command: string, options: SpawnOptions): ChildProcessWithoutNullStreams | Error {
  try {
    return spawn(command, options) as ChildProcessWithoutNullStreams;
  } catch (cause) {
    return cause as Error;
  }
}

/**
 * A commit of the working tree that no branch has (`git stash create`), kept by a ref of its own. Files that git does not
 * know yet are not in it. Undefined = no repository, or no commit in it.
 */
export async function makeCheckpoint(cwd: string, now: number): Promise<string | undefined> {
  const git = async (...args: string[]) => (await execute('git', args, { cwd, timeout: 10_000 })).stdout.trim();
  try {
    const message = 'wa-sync: before a tool call';
    // Nothing changed: the last commit is the state.
    const commit = (await git('stash', 'create', message)) || (await git('rev-parse', 'HEAD'));
    const ref = `refs/wa-sync/${new Date(now).toISOString().replace(/[:.]/g, '-')}`;
    await git('update-ref', ref, commit);
    return `${ref} (${commit.slice(0, 10)})`;
  } catch {
    return undefined;
  }
}
