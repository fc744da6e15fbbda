// Delivers queued updates to the webhook as Telegram does: secret header, order per queue, retries, Retry-After obeyed.

import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { LinkState } from './events.ts';
import type { QueuedUpdate, UpdateQueue } from './update-queue.ts';

export interface WebhookTarget {
  url: string;
  secret?: string;
}

export interface WebhookError {
  atMs: number;
  message: string;
}

export interface WebhookSender {
  target(): WebhookTarget | undefined;
  lastError(): WebhookError | undefined;
  /** Starts delivering, also the waiting updates; undefined stops. */
  setTarget(target: WebhookTarget | undefined): void;
  /** Call after each push. Marks the update as attempted when no delivery is possible now. */
  deliver(queued: QueuedUpdate): void;
  /** One POST of any body, no retry. */
  post(target: WebhookTarget, body: object): Promise<WebhookAnswer>;
  close(): Promise<void>;
}

export interface WebhookAnswer {
  /** 0 = no answer. */
  status: number;
  retryAfter?: string;
  reason: string;
  body: string;
}

export interface WebhookSenderOptions {
  queue: UpdateQueue;
  clock: () => number;
  /** The wait before attempt number `failures + 1`. */
  retryDelayMs?: (failures: number) => number;
  /** A JSON body of a 2xx answer that names a method is executed, its result is lost. */
  execute: (method: string, params: Record<string, unknown>) => void;
  onLink: (state: LinkState) => void;
}

const answerWithinMs = 60_000;
const maxRetryAfterSeconds = 3600;

/** At once, then 2, 4, 8, 16, 32 s, then a random 60 to 120 s. */
function telegramRetryDelayMs(failures: number): number {
  if (failures <= 1) return 0;
  return failures <= 6 ? 1000 * 2 ** (failures - 1) : 60_000 + Math.random() * 60_000;
}

export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const { queue, clock, execute, onLink, retryDelayMs = telegramRetryDelayMs } = options;
  const dispatcher = new Agent({ connections: 40, headersTimeout: answerWithinMs, bodyTimeout: answerWithinMs });
  const pumping = new Set<string>();
  const backingOff = new Set<string>();
  let target: WebhookTarget | undefined;
  let lastError: WebhookError | undefined;
  let change = new AbortController();

  async function pump(key: string): Promise<void> {
    if (pumping.has(key)) return;
    pumping.add(key);
    let failures = 0;
    for (let head = queue.head(key); target && head; head = queue.head(key)) {
      if (head.expiresAtMs <= clock()) {
        queue.remove(head);
        head.attempted();
        continue;
      }
      const answer = await post(target, head.update);
      if (answer.status >= 200 && answer.status < 300) {
        failures = 0;
        queue.remove(head);
        head.attempted();
        onLink({ kind: 'ok' });
        reply(answer.body);
        continue;
      }
      if (change.signal.aborted) break;
      failures += 1;
      lastError = { atMs: clock(), message: answer.reason };
      onLink({ kind: 'failing', reason: answer.reason });
      backingOff.add(key);
      for (const waiting of queue.waiting(key)) waiting.attempted();
      const askedMs = Math.min(Number(answer.retryAfter) || 0, maxRetryAfterSeconds) * 1000;
      await delay(askedMs || retryDelayMs(failures), undefined, { signal: change.signal }).catch(() => {});
      backingOff.delete(key);
    }
    pumping.delete(key);
    if (!target) for (const waiting of queue.waiting(key)) waiting.attempted();
  }

  function reply(body: string): void {
    if (!body.startsWith('{')) return;
    try {
      const { method, ...params } = JSON.parse(body);
      if (typeof method === 'string') execute(method, params);
    } catch {
      // Any other 2xx body is an acknowledgement.
    }
  }

  async function post(to: WebhookTarget, body: object): Promise<WebhookAnswer> {
    try {
      const response = await request(to.url, {
        method: 'POST',
        dispatcher,
        signal: AbortSignal.any([change.signal, AbortSignal.timeout(answerWithinMs)]),
        headers: {
          'content-type': 'application/json',
          ...(to.secret && { 'x-telegram-bot-api-secret-token': to.secret }),
        },
        body: JSON.stringify(body),
      });
      const retryAfter = response.headers['retry-after'];
      return {
        status: response.statusCode,
        reason: `Wrong response from the webhook: ${response.statusCode}`,
        body: await response.body.text(),
        ...(typeof retryAfter === 'string' && { retryAfter }),
      };
    } catch (error) {
      const timedOut = error instanceof Error && /timeout/i.test(error.name + error.message);
      return { status: 0, reason: timedOut ? 'Read timeout expired' : 'Connection refused or lost', body: '' };
    }
  }

  return {
    target: () => target,
    lastError: () => lastError,
    setTarget(next) {
      const sameUrl = next?.url === target?.url && next?.secret === target?.secret;
      target = next;
      lastError = undefined;
      onLink({ kind: next ? 'ok' : 'none' });
      if (!sameUrl) {
        change.abort();
        change = new AbortController();
      }
      for (const key of queue.keys()) void pump(key);
    },
    deliver(queued) {
      if (!target || backingOff.has(queued.key)) queued.attempted();
      if (target) void pump(queued.key);
    },
    post,
    async close() {
      target = undefined;
      change.abort();
      await dispatcher.destroy();
    },
  };
}
