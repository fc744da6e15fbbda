// The command line's way to the daemon of this user, over the local socket.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { type ErrorBody, WaError } from '../protocol/errors.ts';
import { socketFileName } from '../protocol/hook.ts';

export interface AskOptions {
  /** How long the daemon may take beyond what is usual, for calls that it holds open. */
  holdMs?: number;
  /** Ends the call, which the daemon sees. */
  signal?: AbortSignal;
}

const answerMs = 5_000;

/** Errors: `daemon_not_running` (its `cause` says how), and what the daemon refused. An aborted call raises it too. */
export async function askDaemon(
  runtimeDir: string,
  method: 'GET' | 'POST',
  path: string,
  body?: object,
  { holdMs = 0, signal }: AskOptions = {},
): Promise<unknown> {
  const headersTimeout = answerMs + holdMs;
  const dispatcher = new Agent({ connect: { socketPath: socketAddress(runtimeDir) }, headersTimeout });
  try {
    const response = await request(`http://wa-sync${path}`, {
      method,
      dispatcher,
      body: body ? JSON.stringify(body) : null,
      ...(signal ? { signal } : {}),
    });
    const answer = (await response.body.json()) as { error?: ErrorBody['error'] };
    if (answer.error) throw refused(answer.error);
    return answer;
  } catch (cause) {
    if (cause instanceof WaError) throw cause;
    throw new WaError('daemon_not_running', `no daemon answers in ${runtimeDir}`, {
      hint: 'Start it with `wa-sync` (WA_RUNTIME_DIR must be the same for both).',
      cause,
    });
  } finally {
    await dispatcher.destroy();
  }
}

function socketAddress(runtimeDir: string): string {
  if (process.platform !== 'win32') return join(runtimeDir, socketFileName);
  try {
    return String(JSON.parse(readFileSync(join(runtimeDir, 'pipe.json'), 'utf8')).address);
  } catch {
    return '\\\\.\\pipe\\wa-sync-none';
  }
}

function refused({ code, message, hint }: ErrorBody['error']): WaError {
  return new WaError(code, message, hint === undefined ? {} : { hint });
}
