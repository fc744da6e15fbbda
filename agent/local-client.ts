// Calls of the command line to the daemon of this user, over the local socket.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ErrorBody, WaError } from '../protocol/errors.ts';
import { socketFileName } from '../protocol/hook.ts';
import { readLockOwner } from './fs/lock.ts';
import { exchange, readText } from './http.ts';
import { stateFiles } from './paths.ts';
import { isOver } from './process.ts';

export interface AskOptions {
  /** Additional milliseconds for calls that the daemon holds open. */
  holdMs?: number;
  /** Ends the call; the daemon notices. */
  signal?: AbortSignal;
}

/** The folders of the socket and of the lock that names the daemon's process; without `state` errors name no process. */
export interface DaemonDirs {
  runtime: string;
  state?: string;
}

const answerMs = 5_000;
const maxAnswerChars = 16 * 1024 * 1024;

/** Errors: `daemon_not_running` (also for an aborted call), `daemon_busy`, and the errors of the daemon. */
export async function askDaemon(
  dirs: DaemonDirs,
  method: 'GET' | 'POST',
  path: string,
  body?: object,
  { holdMs = 0, signal }: AskOptions = {},
): Promise<unknown> {
  const patienceMs = answerMs + holdMs;
  try {
    const response = await exchange(`http://wa-sync${path}`, {
      method,
      agent: false,
      socketPath: socketAddress(dirs.runtime),
      body: body && JSON.stringify(body),
      signal,
      headMs: patienceMs,
      bodyMs: patienceMs,
    });
    const answer = JSON.parse(await readText(response, maxAnswerChars)) as Partial<ErrorBody>;
    if (!answer.error) return answer;
    const { code, message, hint } = answer.error;
    throw new WaError(code, message, hint === undefined ? {} : { hint });
  } catch (cause) {
    if (cause instanceof WaError) throw cause;
    throw await withoutAnswer(dirs, cause, signal?.aborted ?? false);
  }
}

/** Includes a full queue of connections that the daemon does not accept. */
const busyCodes = /^(ETIMEDOUT|EAGAIN)$/;

async function withoutAnswer({ runtime, state }: DaemonDirs, cause: unknown, isAborted: boolean): Promise<WaError> {
  const owner = state === undefined ? undefined : await readLockOwner(stateFiles(state).lock);
  const pid = owner && !isOver(owner) ? owner.pid : undefined;
  const code = String((cause as NodeJS.ErrnoException).code);
  if (!isAborted && busyCodes.test(code)) {
    const process = pid === undefined ? '' : ` (pid ${pid})`;
    const end = pid === undefined ? 'end its process and start it again' : endBy(pid);
    const hint = `Try again. If it lasts: ${end}; stored messages are kept.`;
    return new WaError('daemon_busy', `the daemon${process} does not answer: it is busy or hangs`, { hint, cause });
  }
  if (code === 'ENOENT' && pid !== undefined) {
    const hint = `It may be starting: try again in a moment. If it lasts, WA_RUNTIME_DIR must be the same for both; if it is, the socket was removed: ${endBy(pid)}; stored messages are kept.`;
    const message = `no daemon answers in ${runtime}, but one runs as process ${pid}`;
    return new WaError('daemon_not_running', message, { hint, cause });
  }
  const hint =
    'Start it with `wa-sync`; on a machine without a relay `wa-sync setup` comes first. WA_RUNTIME_DIR must be the same for both.';
  return new WaError('daemon_not_running', `no daemon answers in ${runtime}`, { hint, cause });
}

/** It may be `wa-sync`, in a terminal or in the background, or `wa-sync dev`. */
function endBy(pid: number): string {
  return `end it with Ctrl+C in its terminal, or with \`kill ${pid}\`, and start it again as before`;
}

function socketAddress(runtimeDir: string): string {
  if (process.platform !== 'win32') return join(runtimeDir, socketFileName);
  try {
    return String(JSON.parse(readFileSync(join(runtimeDir, 'pipe.json'), 'utf8')).address);
  } catch {
    return '\\\\.\\pipe\\wa-sync-none';
  }
}
