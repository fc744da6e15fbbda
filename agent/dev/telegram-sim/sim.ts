// The built-in Telegram: a strict Bot API with one owner, in one process, for `dev`, `demo` and the tests.
// Connects the parts; the other files check methods and deliver updates.

import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WaError } from '../../../protocol/errors.ts';
import { createApiHandler, runQuietly } from './api-server.ts';
import type { EventLog, LinkState } from './events.ts';
import { createFailureScript } from './failures.ts';
import { createFloodGate } from './flood.ts';
import { type Method, messageMethods } from './methods.ts';
import { type OwnerActions, ownerActions } from './owner.ts';
import type { ApiCall, ApiFailure, PhoneReaction, SavedMessage, SimChat, SimMessage, UploadedFile } from './types.ts';
import { updateMethods } from './update-methods.ts';
import { createUpdateQueue } from './update-queue.ts';
import { createWebhookSender } from './webhook.ts';
import { createWorld, idFromClock, restore, savedOf, shown, type WorldOptions } from './world.ts';

export type { ApiCall, ApiFailure, PhoneReaction, SavedMessage, SimMessage } from './types.ts';

export interface TelegramSimOptions extends WorldOptions {
  /** The private chat of an earlier run. */
  saved?: readonly SavedMessage[];
  /** Port on 127.0.0.1; 0 or absent = any free port. */
  port?: number;
  /** Default: random, so that no other page or program on the machine can act as the bot. */
  token?: string;
  botId?: number;
  ownerId?: number;
  webhook?: { url: string; secret?: string };
  /** Answers 429 above the published flood limits. */
  floodLimits?: boolean;
  /** First message id and update id. Default: derived from the clock, so that a restart never reuses one. */
  firstId?: number;
  clock?: () => number;
  /** Delay before the next attempt of a webhook delivery; default as Telegram. */
  retryDelayMs?: (failures: number) => number;
  /** Calls kept in `calls`; older ones are dropped. */
  keptCalls?: number;
  /** Other routes of the same server, the phone page. Made once, when the simulator runs. */
  pages?: (sim: TelegramSim) => (request: IncomingMessage, response: ServerResponse, url: URL) => void;
}

/** Contract: every action of the owner is delivered in order and retried, and is shown before it is sent. */
export interface TelegramSim extends OwnerActions {
  readonly apiRoot: string;
  readonly token: string;
  readonly botId: string;
  /** User id = id of the private chat. */
  readonly ownerId: number;
  /** All calls of the Bot API with the right token, in order. */
  readonly calls: readonly ApiCall[];
  readonly events: EventLog;
  failNext(failure: ApiFailure): void;
  /** Matches past calls too. @throws {WaError} internal when none came in time. */
  waitForCall(match: (call: ApiCall) => boolean, timeoutMs?: number): Promise<ApiCall>;
  /** One webhook POST of any update, no retry. `status` 0 = no answer. */
  deliver(update: object): Promise<{ status: number; retryAfter?: string }>;
  setWebhook(url: string, secret?: string): void;
  /** The messages that the phone shows now, of all chats or of one. */
  messages(chatId?: number): SimMessage[];
  /** The reactions of the bot, in order; only the last are kept. */
  readonly reactions: readonly PhoneReaction[];
  chats(): SimChat[];
  /** The last messages of the private chat, for `saved` of a later run. */
  saved(count: number): SavedMessage[];
  /** What the phone shows of a file; undefined = it is not kept any more. */
  file(fileId: string): UploadedFile | undefined;
  link(): LinkState;
  /** A getUpdates call is waiting. */
  isPolled(): boolean;
  /** Updates that the bot has not received. */
  pendingUpdates(): number;
  close(): Promise<void>;
}

/** Default id of the owner, and of the private chat. */
export const simOwnerId = 1_000_001;

/** @throws {WaError} port_in_use */
export async function startTelegramSim(options: TelegramSimOptions = {}): Promise<TelegramSim> {
  const { botId = 100_000_001, ownerId = simOwnerId, clock = Date.now, keptCalls = 20_000 } = options;
  const token = options.token ?? `${botId}:${randomBytes(26).toString('base64url')}`;
  const firstId = options.firstId ?? idFromClock(clock());
  const world = createWorld(options, { botId, ownerId, clock, firstId });
  restore(world, ownerId, options.saved ?? []);
  const queue = createUpdateQueue(firstId, clock);
  const failures = createFailureScript();
  const methods = new Map<string, { name: string; run: Method }>();
  const calls: ApiCall[] = [];
  const callListeners = new Set<(call: ApiCall) => void>();

  let link: LinkState = { kind: 'none' };
  const onLink = (state: LinkState) => {
    if (JSON.stringify(state) === JSON.stringify(link)) return;
    link = state;
    world.events.publish({ type: 'link', state });
  };
  const webhook = createWebhookSender({
    queue,
    clock,
    onLink,
    execute: (name, params) => runQuietly(methods, name, params),
    ...(options.retryDelayMs && { retryDelayMs: options.retryDelayMs }),
  });
  const updates = updateMethods(queue, webhook);
  const flood = options.floodLimits ? createFloodGate(clock) : () => {};
  for (const [name, run] of Object.entries({ ...messageMethods(world, flood), ...updates.methods })) {
    methods.set(name.toLowerCase(), { name, run });
  }

  const record = (call: ApiCall) => {
    calls.push(call);
    if (calls.length > keptCalls) calls.shift();
    if (call.method === 'getUpdates' && call.answer.status === 200) onLink({ kind: 'ok' });
    for (const listener of callListeners) listener(call);
  };
  const file = (path: string) => [...world.files.values()].find((entry) => entry.path === path)?.data;
  const api = createApiHandler({ token, methods, failures, file, record, clock });

  const queued = (fields: object): Promise<void> =>
    new Promise((resolve) => {
      const update = queue.push(fields, resolve);
      if (!update) return resolve();
      webhook.deliver(update);
      updates.wakePoller();
    });

  let pages: ReturnType<NonNullable<TelegramSimOptions['pages']>> | undefined;
  const server = createServer((request, response) => {
    const target = `http://127.0.0.1${request.url}`;
    if (URL.canParse(target)) {
      const url = new URL(target);
      if (api(request, response, url)) return;
      if (pages) return pages(request, response, url);
    }
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end('{"ok":false,"error_code":404,"description":"Not Found"}');
  });
  // Clients reuse connections: a connection that closes at the moment of reuse would look like a lost call.
  server.keepAliveTimeout = 120_000;
  await listen(server, options.port ?? 0);

  const sim: TelegramSim = {
    apiRoot: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    botId: String(botId),
    ownerId,
    calls,
    events: world.events,
    failNext: (failure) => failures.add(failure),
    waitForCall(match, timeoutMs = 60_000) {
      const past = calls.find(match);
      if (past) return Promise.resolve(past);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          callListeners.delete(listener);
          const seen = calls.slice(-10).map((call) => call.method);
          reject(
            new WaError('internal', `no such call within ${timeoutMs} ms; last ones: ${seen.join(', ') || 'none'}`),
          );
        }, timeoutMs);
        const listener = (call: ApiCall) => {
          if (!match(call)) return;
          clearTimeout(timer);
          callListeners.delete(listener);
          resolve(call);
        };
        callListeners.add(listener);
      });
    },
    ...ownerActions(world, queued),
    async deliver(update) {
      const target = webhook.target();
      if (!target)
        throw new WaError('not_configured', 'the simulator has no webhook', { hint: 'Call setWebhook first.' });
      const { status, retryAfter } = await webhook.post(target, update);
      return { status, ...(retryAfter !== undefined && { retryAfter }) };
    },
    setWebhook: (url, secret) => webhook.setTarget({ url, ...(secret && { secret }) }),
    reactions: world.reactions,
    messages: (chatId) =>
      [...world.messages.entries()]
        .filter(([id]) => chatId === undefined || id === chatId)
        .flatMap(([, ofChat]) => [...ofChat.values()].map(shown)),
    chats: () => [...world.chats.values()],
    saved: (count) => savedOf(world, ownerId, count),
    file(fileId) {
      const known = world.files.get(fileId);
      return known && { ...known.file, data: known.data };
    },
    link: () => link,
    isPolled: updates.isPolled,
    pendingUpdates: () => queue.size(),
    async close() {
      await webhook.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  pages = options.pages?.(sim);
  if (options.webhook) sim.setWebhook(options.webhook.url, options.webhook.secret);
  return sim;
}

function listen(server: ReturnType<typeof createServer>, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error);
      reject(
        new WaError('port_in_use', `port ${port} of 127.0.0.1 is in use`, { hint: 'Choose another one with --port.' }),
      );
    });
    server.listen(port, '127.0.0.1', resolve);
  });
}
