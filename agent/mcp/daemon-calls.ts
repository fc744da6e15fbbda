// The calls of the four tools to the daemon: for which client and folder, and a second try when the daemon restarts in between.

import { randomUUID } from 'node:crypto';
import { WaError } from '../../protocol/errors.ts';
import type { AckResult, PollingClient, PollResult, SendResult, TextMode } from '../../protocol/polling.ts';
import { type AskOptions, askDaemon, type DaemonDirs } from '../local-client.ts';
import { pidSpace, startOf } from '../process.ts';

export type DaemonCalls = ReturnType<typeof createDaemonCalls>;

export interface DaemonCallsOptions {
  dirs: DaemonDirs;
  cwd: string;
  /** The name that the MCP client gave itself; known once it has connected. */
  clientName(): string;
}

/** How long `send` waits for the phone's own id of the message. */
const sendWaitMs = 10_000;
/** A restarted daemon is back by then; a call that it had not journalled is repeated. */
const restartMs = 5_000;
const restartStepMs = 250;

/** Every call raises `daemon_not_running`, `not_bound`, and what the daemon refused. */
export function createDaemonCalls({ dirs, cwd, clientName }: DaemonCallsOptions) {
  const connection = randomUUID();
  const from = (): PollingClient => ({
    connection,
    client: clientName().slice(0, 80),
    pid: process.pid,
    started: startOf(process.pid) ?? '',
    space: pidSpace(),
    parent: process.ppid,
  });

  async function ask(path: string, call: object, options: AskOptions = {}): Promise<unknown> {
    const body = { from: from(), cwd, ...call };
    const until = performance.now() + restartMs;
    for (let wasThere = false; ; ) {
      try {
        return await askDaemon(dirs, 'POST', `/mcp${path}`, body, options);
      } catch (cause) {
        wasThere ||= hasBroken(cause);
        const isGone = cause instanceof WaError && cause.code === 'daemon_not_running';
        if (!isGone || !wasThere || options.signal?.aborted || performance.now() > until) throw cause;
        await new Promise((resolve) => setTimeout(resolve, restartStepMs));
      }
    }
  }

  return {
    poll: (wish: { limit: number; timeoutMs: number }, signal: AbortSignal) =>
      ask('/poll', wish, { holdMs: wish.timeoutMs, signal }) as Promise<PollResult>,
    /** Every try has the same `sendId`, so that nothing is sent twice. */
    send: (message: { chat?: string; text: string; mode: TextMode }, signal: AbortSignal) =>
      ask(
        '/send',
        { ...message, sendId: randomUUID(), waitMs: sendWaitMs },
        { holdMs: sendWaitMs, signal },
      ) as Promise<SendResult>,
    ack: (ids: readonly string[]) => ask('/ack', { ids }) as Promise<AckResult>,
    typing: (chat: { chat?: string }) => ask('/typing', chat),
    /** Without `ids` everything that this process holds. */
    release: (ids?: readonly string[]) => ask('/release', ids ? { ids } : {}),
  };
}

/** The daemon went away in the middle of the call: it ended, or is being restarted. */
function hasBroken(error: unknown): boolean {
  const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
}
