// The methods that decide how updates reach the bot: webhook or long polling, never both.

import type { Method } from './methods.ts';
import { arrayParam, flagParam, numberParam, textParam } from './params.ts';
import { badRequest, Refusal } from './refusal.ts';
import type { Params } from './types.ts';
import type { UpdateQueue } from './update-queue.ts';
import type { WebhookSender } from './webhook.ts';

const maxSecretCharacters = 256;
const maxPollSeconds = 50;

export interface UpdateMethods {
  methods: Record<string, Method>;
  /** Call after each push: gives the update to a waiting poller. */
  wakePoller(): void;
  isPolled(): boolean;
}

export function updateMethods(queue: UpdateQueue, webhook: WebhookSender): UpdateMethods {
  /** Ends the waiting of the one poller; its reason tells why. */
  let poller: AbortController | undefined;

  const dropPending = (params: Params) => {
    if (flagParam(params, 'drop_pending_updates')) for (const queued of queue.pending()) queue.remove(queued);
  };

  async function getUpdates(params: Params, signal: AbortSignal): Promise<unknown> {
    const earlier = poller;
    const mine = new AbortController();
    poller = mine;
    earlier?.abort('other');
    if (webhook.target()) throw webhookActive();
    queue.allow(readAllowed(params));
    const offset = numberParam(params, 'offset') ?? 0;
    const pending = queue.pending();
    const keptFrom = offset < 0 ? (pending.at(offset)?.update.update_id ?? 0) : offset;
    for (const queued of pending) if (queued.update.update_id < keptFrom) queue.remove(queued);
    const limit = Math.min(100, Math.max(1, numberParam(params, 'limit') ?? 100));
    const timeoutMs = 1000 * Math.min(maxPollSeconds, Math.max(0, numberParam(params, 'timeout') ?? 0));
    if (queue.size() === 0 && timeoutMs > 0) await aborted(mine, signal, timeoutMs);
    if (mine.signal.reason === 'other') throw otherPoller();
    if (webhook.target()) throw webhookActive();
    if (poller === mine) poller = undefined;
    return queue
      .pending()
      .slice(0, limit)
      .map((queued) => queued.update);
  }

  return {
    isPolled: () => poller !== undefined,
    wakePoller: () => poller?.abort('update'),
    methods: {
      getUpdates,
      setWebhook(params) {
        const url = textParam(params, 'url');
        const secret = textParam(params, 'secret_token');
        if (secret.length > maxSecretCharacters) throw badRequest('secret token is too long');
        if (!/^[A-Za-z0-9_-]*$/.test(secret)) throw badRequest('secret token contains unallowed characters');
        if (url !== '') checkWebhookUrl(url);
        dropPending(params);
        queue.allow(readAllowed(params));
        webhook.setTarget(url === '' ? undefined : { url, ...(secret && { secret }) });
        poller?.abort('webhook');
        return true;
      },
      deleteWebhook(params) {
        dropPending(params);
        webhook.setTarget(undefined);
        return true;
      },
      getWebhookInfo() {
        const target = webhook.target();
        const error = webhook.lastError();
        const allowed = queue.allowed();
        return {
          url: target?.url ?? '',
          has_custom_certificate: false,
          pending_update_count: queue.size(),
          ...(target && { max_connections: 40 }),
          ...(error && { last_error_date: Math.floor(error.atMs / 1000), last_error_message: error.message }),
          ...(allowed && { allowed_updates: allowed }),
        };
      },
    },
  };
}

function readAllowed(params: Params): string[] | undefined {
  return arrayParam(params, 'allowed_updates')?.map(String);
}

/** Telegram requires HTTPS; the simulator also delivers to its own machine. */
function checkWebhookUrl(url: string): void {
  if (!URL.canParse(url)) throw badRequest('bad webhook: invalid URL');
  const { protocol, hostname } = new URL(url);
  const local = protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
  if (protocol !== 'https:' && !local) throw badRequest('bad webhook: An HTTPS URL must be provided for webhook');
}

function webhookActive(): Refusal {
  return new Refusal(
    409,
    "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
  );
}

function otherPoller(): Refusal {
  return new Refusal(
    409,
    'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
  );
}

/** Resolves when the poller is woken, the request is gone, or the time is over. */
function aborted(poller: AbortController, request: AbortSignal, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, timeoutMs);
    function done() {
      clearTimeout(timer);
      resolve();
    }
    poller.signal.addEventListener('abort', done, { once: true });
    request.addEventListener('abort', done, { once: true });
    if (poller.signal.aborted || request.aborted) done();
  });
}
