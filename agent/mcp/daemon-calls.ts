// The calls of the four tools to the daemon, in the name of a client and a folder; repeats a call when the daemon restarts.

import { randomUUID } from 'node:crypto';
import { WaError } from '../../protocol/errors.ts';
import type { AckResult, PollingClient, PollResult, SendResult, TextMode } from '../../protocol/polling.ts';
import { type AskOptions, askDaemon, type DaemonDirs } from '../local-client.ts';
import { pidSpace, startOf } from '../process.ts';

export type DaemonCalls = ReturnType<typeof createDaemonCalls>;

/** How long `send` waits for the phone's own id of the message. */
const sendWaitMs = 10_000;
/** A restarted daemon answers within this time: the old one may take 20 s to end, and on a slow machine the new one 10 s to start. */
const restartMs = 30_000;
const restartStepMs = 250;

/**
 * `clientName`: the name that the MCP client gave itself, known once the client has connected. Every call raises
 * `daemon_not_running`, `not_bound`, and each refusal of the daemon.
 */
export function createDaemonCalls(dirs: DaemonDirs, cwd: string, clientName: () => string) {
  const connection = randomUUID();
  const from = (): PollingClient => ({
    connection,
    client: clientName().slice(0, 80),
    pid: process.pid,
    started: startOf(process.pid) ?? '',
    space: pidSpace(),
    parent: process.ppid,
  });

  async function ask(path: string, call: () => object, options: AskOptions = {}): Promise<unknown> {
    for (let until: number | undefined; ; ) {
      try {
        return await askDaemon(dirs, 'POST', `/mcp${path}`, { from: from(), cwd, ...call() }, options);
      } catch (cause) {
        // One restart for each call: a daemon that breaks again and again is told.
        if (hasBroken(cause)) until ??= performance.now() + restartMs;
        const isGone = cause instanceof WaError && cause.code === 'daemon_not_running';
        if (!isGone || until === undefined || options.signal?.aborted || performance.now() > until) throw cause;
        // A client that is gone by then ends this process meanwhile.
        await new Promise((resolve) => setTimeout(resolve, restartStepMs).unref());
      }
    }
  }

  return {
    /** A later try waits only for what is left of the time. */
    poll({ limit, timeoutMs }: { limit: number; timeoutMs: number }, signal: AbortSignal) {
      const endsAt = performance.now() + timeoutMs;
      const call = () => ({ limit, timeoutMs: Math.max(0, Math.round(endsAt - performance.now())) });
      return ask('/poll', call, { holdMs: timeoutMs, signal }) as Promise<PollResult>;
    },
    /** Every try has the same `sendId`, so that nothing is sent twice. */
    send(message: { chat?: string; text: string; mode: TextMode }, signal: AbortSignal) {
      const call = { ...message, sendId: randomUUID(), waitMs: sendWaitMs };
      return ask('/send', () => call, { holdMs: sendWaitMs, signal }) as Promise<SendResult>;
    },
    ack: (ids: readonly string[]) => ask('/ack', () => ({ ids })) as Promise<AckResult>,
    typing: (chat: { chat?: string }) => ask('/typing', () => chat),
    /** Without `ids` everything that this process holds. */
    release: (ids?: readonly string[]) => ask('/release', () => (ids ? { ids } : {})),
  };
}

/** The daemon went away in the middle of the call: it ended, or is being restarted. */
function hasBroken(error: unknown): boolean {
  const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
  return code === 'ECONNRESET' || code === 'EPIPE';
}
