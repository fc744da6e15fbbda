// The real relay in real workerd: the Worker as wrangler builds it, wired to a simulated Telegram.

import { createHash, randomBytes } from 'node:crypto';
import { createTestHarness } from 'wrangler';
import type { TelegramSim } from '../../agent/dev/telegram-sim/sim.ts';
import { mailboxName } from '../../protocol/ids.ts';
import type { OutboxAnswer, OutboxItem, PollAnswer, PollRequest } from '../../protocol/relay-api.ts';

export interface RelayOptions {
  /** Its webhook is pointed at the relay. Without one, the Bot API is a closed port. */
  sim?: TelegramSim;
  /** Over the defaults; null takes a setting away. */
  vars?: Record<string, string | null>;
}

interface RelayAnswer<T> {
  status: number;
  headers: Headers;
  body: T;
}

type Failure = { error?: { code: string; message: string; hint?: string; retryAfterMs?: number } };

export interface Relay {
  /** Without a trailing slash. */
  readonly url: string;
  /** The agent's bearer token. */
  readonly token: string;
  readonly webhookSecret: string;
  readonly botId: string;
  /** The chat of the simulated owner. */
  readonly mailbox: string;
  /** One POST to the webhook with the right secret. */
  webhook(update: unknown, headers?: Record<string, string>): Promise<{ status: number; retryAfter: string | null }>;
  call<T>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<RelayAnswer<T & Failure>>;
  /** Defaults: project 0, everything from the start, no hold. */
  poll(request?: Partial<PollRequest>): Promise<PollAnswer & Failure>;
  post(items: (Partial<OutboxItem> & { key: string })[], project?: number): Promise<OutboxAnswer & Failure>;
  /** Values of the metrics by name. */
  metrics(): Promise<Record<string, number>>;
  /** SQL inside the Mailbox object of a chat. */
  sql(query: string, ...params: unknown[]): Promise<Record<string, unknown>[]>;
  /** How many Mailbox objects have ever stored something. */
  objects(): Promise<number>;
  /** Puts the object out of memory, where it is still there; sockets hibernate or close. */
  evict(webSockets: 'hibernate' | 'close'): Promise<void>;
  close(): Promise<void>;
}

export const relayDaemon = { id: 'daemon-of-a-test', startedAt: 1_790_000_000_000 };

export async function startRelay(options: RelayOptions = {}): Promise<Relay> {
  const { sim } = options;
  const token = randomBytes(32).toString('base64url');
  const webhookSecret = randomBytes(16).toString('hex');
  const botToken = sim?.token ?? '100000001:unused';
  const botId = botToken.split(':')[0] ?? '';
  const mailbox = String(sim?.ownerId ?? 1_000_001);
  const settings: Record<string, string | null> = {
    TELEGRAM_BOT_TOKEN: botToken,
    TELEGRAM_CHAT_ID: mailbox,
    TELEGRAM_WEBHOOK_SECRET: webhookSecret,
    TELEGRAM_API_ROOT: sim?.apiRoot ?? 'http://127.0.0.1:1',
    WA_AGENT_TOKEN_SHA256: createHash('sha256').update(token).digest('hex'),
    ...options.vars,
  };
  const vars = Object.fromEntries(
    Object.entries(settings).filter((entry): entry is [string, string] => entry[1] !== null),
  );
  const server = createTestHarness({
    workers: [{ configPath: new URL('../../wrangler.toml', import.meta.url), vars }],
  });
  const url = String((await server.listen()).url).replace(/\/$/, '');
  sim?.setWebhook(`${url}/telegram/webhook`, webhookSecret);
  const object = { name: mailboxName(botId, mailbox) };

  async function call<T>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<RelayAnswer<T & Failure>> {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as T & Failure };
  }

  const poll = async (request: Partial<PollRequest> = {}) =>
    (
      await call<PollAnswer>('POST', '/v1/poll', {
        mailbox,
        project: 0,
        epoch: null,
        after: null,
        holdMs: 0,
        daemon: relayDaemon,
        receipts: [],
        ...request,
      })
    ).body;

  return {
    url,
    token,
    webhookSecret,
    botId,
    mailbox,
    call,
    poll,
    async webhook(update, headers = {}) {
      const response = await fetch(`${url}/telegram/webhook`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': webhookSecret, ...headers },
        body: typeof update === 'string' ? update : JSON.stringify(update),
      });
      await response.arrayBuffer();
      return { status: response.status, retryAfter: response.headers.get('retry-after') };
    },
    post: async (items, project = 0) =>
      (
        await call<OutboxAnswer>('POST', '/v1/outbox', {
          mailbox,
          project,
          items: items.map((item) => ({ class: 'answer', parts: [{ text: item.key }], ...item })),
        })
      ).body,
    async metrics() {
      const response = await fetch(`${url}/v1/metrics`, { headers: { authorization: `Bearer ${token}` } });
      const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
      return Object.fromEntries(
        lines.map((line) => {
          const [name = '', value] = line.split(' ');
          return [name, Number(value)];
        }),
      );
    },
    async sql(query, ...params) {
      const storage = await server.getWorker().getDurableObjectStorage('Mailbox', object);
      return (await storage.exec(query, ...(params as never[]))) as Record<string, unknown>[];
    },
    objects: async () => (await server.getWorker().listDurableObjectIds('Mailbox')).length,
    async evict(webSockets) {
      const evicted = server.getWorker().evictDurableObject('Mailbox', { ...object, webSockets });
      await evicted.catch((cause: Error) => {
        if (!cause.message.includes('not currently running')) throw cause;
      });
    },
    close: () => server.close(),
  };
}
