// What a project does for an agent that polls (MCP): hands out messages on lease, takes its texts for the phone and its
// acknowledgements. The caller has already found the project and checked the chat.

import { randomBytes } from 'node:crypto';
import { relayLimits } from '../../protocol/limits.ts';
import type { KeyEnd } from '../../protocol/log.ts';
import type {
  AckResult,
  PolledMessage,
  PollingClient,
  PollResult,
  SendResult,
  TextMode,
} from '../../protocol/polling.ts';
import type { OutboxItem } from '../../protocol/relay-api.ts';
import { pause } from '../relay/backoff.ts';
import type { Typesetter } from '../relay/render.ts';
import { frameMessages } from '../turns/framing.ts';
import type { WaitingMessage } from '../turns/view.ts';
import type { Leases } from './leases.ts';
import type { Route } from './types.ts';

export interface McpOptions {
  mailbox: string;
  leases: Leases;
  /** Queues in order; resolves when all are in the journal. */
  queue(items: readonly OutboxItem[]): Promise<void>;
  /** Resolves with the first settled outcome of the key, or undefined after `timeoutMs`. */
  outcome(key: string, timeoutMs: number, signal: AbortSignal): Promise<KeyEnd | undefined>;
  typing(): Promise<void>;
  typesetter: Typesetter;
  clock: () => number;
}

export type Mcp = ReturnType<typeof createMcp>;

export function createMcp(options: McpOptions) {
  const { leases, clock } = options;
  const listening = new Set<() => void>();

  /** Hears what happens from the call on, not only from when it is awaited. */
  function listen(): { heard: Promise<void>; stop(): void } {
    let hear: () => void = () => {};
    const heard = new Promise<void>((resolve) => {
      hear = resolve;
    });
    listening.add(hear);
    return { heard, stop: () => listening.delete(hear) };
  }

  async function waitForMessages(
    from: PollingClient,
    { limit, timeoutMs }: { limit: number; timeoutMs: number },
    signal: AbortSignal,
  ): Promise<readonly WaitingMessage[]> {
    const until = clock() + timeoutMs;
    for (;;) {
      const news = listen();
      const over = new AbortController();
      try {
        const messages = await leases.take(from, limit, () => signal.aborted);
        const leftMs = until - clock();
        if (messages.length > 0 || leftMs <= 0 || signal.aborted) return messages;
        await Promise.race([news.heard, pause(leftMs, AbortSignal.any([signal, over.signal]))]);
      } finally {
        over.abort();
        news.stop();
      }
    }
  }

  return {
    mailbox: options.mailbox,
    /** Waits up to `timeoutMs` for a message. What it gives to a client that is gone by then comes back. */
    async poll(
      from: PollingClient,
      wish: { limit: number; timeoutMs: number },
      signal: AbortSignal,
    ): Promise<PollResult> {
      return resultOf(await waitForMessages(from, wish, signal), options.mailbox, clock());
    },
    async send(
      from: PollingClient,
      { sendId, text, mode, waitMs }: { sendId: string; text: string; mode: TextMode; waitMs: number },
      signal: AbortSignal,
    ): Promise<SendResult> {
      const parts = await options.typesetter.parts(text, mode);
      const replyTo = leases.unanswered(from.connection);
      const items: OutboxItem[] = [];
      for (let start = 0; start < parts.length; start += relayLimits.outboxParts) {
        items.push({
          key: `mcp_${sendId}_${items.length}`,
          class: 'answer',
          parts: parts.slice(start, start + relayLimits.outboxParts),
          ...(start === 0 && replyTo !== undefined ? { replyTo } : {}),
        });
      }
      const last = items.at(-1)?.key ?? '';
      const outcome = options.outcome(last, waitMs, signal);
      await Promise.all([options.queue(items), leases.replied(from.connection)]);
      return sendResult(parts.length, await outcome);
    },
    ack: (from: PollingClient, ids: readonly string[]): Promise<AckResult> => leases.acknowledge(from.connection, ids),
    /** Without `ids` everything that the connection holds. */
    release: (from: PollingClient, ids: readonly string[] | undefined) =>
      leases.release(
        ids ? 'the client did not take it' : 'connection closed',
        (id, { holder }) => holder.connection === from.connection && (ids?.includes(id) ?? true),
      ),
    /** A session of this coding agent ended; what its MCP server holds was for that session. */
    sessionEnded: (parent: number) => leases.release('session ended', (_, { holder }) => holder.parent === parent),
    typing: options.typing,
    route: {
      name: 'lease' as const,
      wakes: false,
      gatherMs: 0,
      // A poll waits, or its messages are being worked on.
      isOpen: () => listening.size > 0 || leases.list().length > 0,
      async deliver(): ReturnType<Route['deliver']> {
        for (const hear of listening) hear();
        return listening.size > 0 ? 'given' : 'nobody';
      },
    },
    check: leases.check,
  };
}

function resultOf(messages: readonly WaitingMessage[], mailbox: string, now: number): PollResult {
  const isPlain = ({ entry }: WaitingMessage) => !entry.attempt && !entry.editOf;
  const needsFrame = messages.length > 1 || !messages.every(isPlain);
  const nonce = randomBytes(4).toString('hex');
  return {
    messages: messages.map((message) => toPolled(message, mailbox)),
    ...(needsFrame ? { combined_context: frameMessages(messages, { now, nonce, more: 0, degraded: false }) } : {}),
  };
}

function toPolled({ entry, expansion }: WaitingMessage, mailbox: string): PolledMessage {
  return {
    message_id: entry.id,
    chat_id: mailbox,
    from_user: 'owner',
    text: expansion ? `${entry.text}\n\nWorkflow ${expansion.name}, follow it:\n${expansion.text}` : entry.text,
    timestamp: entry.timestamp,
  };
}

function sendResult(chunks: number, outcome: KeyEnd | undefined): SendResult {
  if (!outcome) return { success: true, chunks_sent: chunks, queued: true };
  if (outcome.state === 'dead') {
    const { code = 'rejected', reason = '' } = outcome.error ?? {};
    return { success: false, chunks_sent: 0, error: `the phone did not get it: ${reason} (${code})` };
  }
  return { success: true, chunks_sent: chunks, ...(outcome.ref === undefined ? {} : { message_id: outcome.ref }) };
}
