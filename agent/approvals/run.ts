// Programs that a policy asks for: a command after a tool, and git for a checkpoint. Bounded in time and output.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export interface Ran {
  /** Null = ended by a signal, `timeout` when it was ours. */
  code: number | 'timeout' | null;
  /** Both streams as they came, the last part when it is long. */
  output: string;
}

const maxOutput = 4_000;
const afterTimeoutMs = 120_000;

/** `sh -c` (Windows: cmd) in the project; never rejects. `onChild` gets the process, so that it can be ended. */
export function runAfter(command: string, cwd: string, onChild: (child: ChildProcess) => void): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(command, { cwd, shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
    onChild(child);
    let output = '';
    let late = false;
    const take = (chunk: string) => {
      output = (output + chunk).slice(-2 * maxOutput);
    };
    child.stdout.setEncoding('utf8').on('data', take);
    child.stderr.setEncoding('utf8').on('data', take);
    const timer = setTimeout(() => {
      late = true;
      child.kill('SIGKILL');
    }, afterTimeoutMs);
    const end = (code: number | null, text = '') => {
      clearTimeout(timer);
      const all = (output + text).trim();
      resolve({ code: late ? 'timeout' : code, output: all.length > maxOutput ? `…${all.slice(-maxOutput)}` : all });
    };
    child.once('error', (cause) => end(127, cause.message));
    child.once('close', (code) => end(code));
  });
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
