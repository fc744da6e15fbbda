// Real Telegram without a public address: calls getUpdates and posts each update to the webhook route of the relay.
// Confirms an update to Telegram only after the relay has committed the update.

import { setTimeout as delay } from 'node:timers/promises';
import type { Api } from 'grammy/web';
import { WaError } from '../../protocol/errors.ts';
import { allowedUpdates } from '../../protocol/telegram-settings.ts';
import { openApi } from './bot-api.ts';
import { asWaError } from './bot-errors.ts';

export interface PollSource {
  token: string;
  apiRoot: string;
  webhook: { url: string; secret: string };
}

export interface TelegramPollOptions extends PollSource {
  /** Removes an existing webhook, and sets it again on stop. */
  takeWebhook: boolean;
  say(line: string): void;
}

export interface TelegramPoll {
  stop(): Promise<void>;
  /** Rejects when polling can never work: wrong token, another poller. */
  readonly finished: Promise<void>;
}

const longPollSeconds = 25;
const timeoutSeconds = longPollSeconds + 15;
const maxRetryMs = 30_000;

/** Errors: `webhook_active` unless `takeWebhook`, `platform_unauthorized`, `platform_unreachable`. */
export async function startTelegramPoll(options: TelegramPollOptions): Promise<TelegramPoll> {
  const api = openApi({ ...options, timeoutSeconds });
  const restore = await takeWebhook(api, options);
  const stopping = new AbortController();
  const finished = loop(api, options, stopping.signal);
  finished.catch(() => {});
  return {
    finished,
    async stop() {
      stopping.abort();
      await finished.catch(() => {});
      await restore();
    },
  };
}

/**
 * Returns the function that sets the webhook again. Telegram does not reveal the secret: without TELEGRAM_WEBHOOK_SECRET the owner is
 * told to set the webhook.
 */
async function takeWebhook(api: Api, { takeWebhook: take, say }: TelegramPollOptions): Promise<() => Promise<void>> {
  const info = await api.getWebhookInfo().catch((cause) => {
    throw asWaError(cause);
  });
  if (!info.url) return async () => {};
  const host = new URL(info.url).host;
  if (!take) {
    throw new WaError('webhook_active', `this bot has a webhook at ${host}, so Telegram refuses getUpdates`, {
      hint: 'Use another bot for dev, or add --take-webhook: the webhook is removed while dev runs and set again on exit.',
    });
  }
  await api.deleteWebhook({ drop_pending_updates: false });
  say(`webhook at ${host} removed while dev runs`);
  return async () => {
    const secret = process.env.TELEGRAM_WEBHOOK_SECRET;
    await api.setWebhook(info.url ?? '', {
      ...(info.allowed_updates ? { allowed_updates: info.allowed_updates } : {}),
      ...(info.max_connections ? { max_connections: info.max_connections } : {}),
      ...(secret ? { secret_token: secret } : {}),
    });
    say(
      `webhook at ${host} put back${secret ? '' : '; TELEGRAM_WEBHOOK_SECRET was not set here: run setWebhook with the secret again'}`,
    );
  };
}

/** Until `signal` aborts. Rejects when polling can never work: `platform_unauthorized`, `platform_conflict`. */
export function pollTelegram(source: PollSource, signal: AbortSignal): Promise<void> {
  return loop(openApi({ ...source, timeoutSeconds }), source, signal);
}

async function loop(api: Api, options: PollSource, signal: AbortSignal): Promise<void> {
  let offset = 0;
  let failures = 0;
  while (!signal.aborted) {
    try {
      const updates = await api.getUpdates(
        { offset, timeout: longPollSeconds, allowed_updates: allowedUpdates },
        forGrammy(signal),
      );
      failures = 0;
      for (const update of updates) {
        if (!(await forward(update, options, signal))) return;
        offset = update.update_id + 1;
      }
    } catch (cause) {
      if (signal.aborted) return;
      const error = asWaError(cause);
      if (!error.retryable) throw error;
      failures += 1;
      await delay(error.retryAfterMs ?? Math.min(500 * 2 ** failures, maxRetryMs), undefined, { signal }).catch(
        () => {},
      );
    }
  }
}

/** grammY's types come from a polyfill; the objects are the same. */
function forGrammy(signal: AbortSignal): NonNullable<Parameters<Api['getUpdates']>[1]> {
  return signal as NonNullable<Parameters<Api['getUpdates']>[1]>;
}

/** False = stopped before the relay had the update; Telegram sends it again. */
async function forward(update: object, { webhook }: PollSource, signal: AbortSignal): Promise<boolean> {
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    const status = await fetch(webhook.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': webhook.secret },
      body: JSON.stringify(update),
      signal,
    }).then(
      async (response) => {
        await response.body?.cancel();
        return response.status;
      },
      () => 0,
    );
    if (status >= 200 && status < 300) return true;
    // Too large for the relay: skip this update only, as Telegram would.
    if (status === 413) return true;
    await delay(Math.min(500 * 2 ** attempt, maxRetryMs), undefined, { signal }).catch(() => {});
  }
  return false;
}
