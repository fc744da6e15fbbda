// The only client of the relay: calls over kept-alive HTTPS, each answer checked for its shape, each failure a code.
// Never follows a redirect and never sends the token to another origin.

import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { isErrorCode, WaError } from '../../protocol/errors.ts';
import { relayLimits } from '../../protocol/limits.ts';
import { isPhone } from '../../protocol/phone.ts';
import type {
  DeadLetterAction,
  DeadLettersAnswer,
  DocumentAnswer,
  OutboxAnswer,
  OutboxRequest,
  PollAnswer,
  PollRequest,
  StatusAnswer,
  TopicAnswer,
} from '../../protocol/relay-api.ts';
import type { RehomeAnswer, RehomeRequest, WebhookAnswer } from '../../protocol/webhook-api.ts';
import { readText } from '../http.ts';
import { connectTo } from './connection.ts';

export interface RelayClient {
  /** Held up to `holdMs`. Errors: every code of the relay's API, `relay_unreachable`, `relay_bad_answer` (poll again now). */
  poll(body: PollRequest, signal: AbortSignal): Promise<PollAnswer>;
  outbox(body: OutboxRequest): Promise<OutboxAnswer>;
  status(): Promise<StatusAnswer>;
  /** What the platforms say of webhook, rights and chats. */
  webhook(): Promise<WebhookAnswer>;
  /** A topic of this name for a project, once until a daemon polls it. Errors: `no_topics`, and those of every call. */
  makeTopic(mailbox: string, name: string): Promise<TopicAnswer>;
  deadLetters(address: Address): Promise<DeadLettersAnswer>;
  actOnDeadLetter(id: string, body: DeadLetterAction): Promise<DeadLettersAnswer>;
  /** Shows "typing" on the phone for some seconds. */
  typing(address: Address): Promise<void>;
  /** The bytes of a file from the phone, as they come. Errors: `not_found`, `body_too_large`, and those of every call. */
  download(address: Address, fileId: string): Promise<AsyncIterable<Uint8Array>>;
  /** Streams a document to the phone. A repeated key is sent once. */
  upload(address: Address, document: Upload): Promise<DocumentAnswer>;
  /** Has each platform deliver to the address of this relay. Errors: `misconfigured`, `rate_limited`, `platform_*`. */
  rehome(body: RehomeRequest): Promise<RehomeAnswer>;
  /** Drops every connection: after a sleep of the machine, dead connections still look open. */
  reconnect(): void;
  /** From now on, calls go there. Calls that are open fail as those of a lost connection. */
  moveTo(relay: RelayPair): void;
  close(): Promise<void>;
}

export interface Address {
  mailbox: string;
  project: number;
}

export interface Upload {
  key: string;
  name: string;
  caption: string;
  bytes: number;
  content: AsyncIterable<Uint8Array>;
}

/** How long a call may take. `answer` also ends a call without headers, except for files. */
const patience = {
  answerMs: 20_000,
  /** A platform needs minutes for the largest file, and the relay answers after the platform. */
  fileMs: 5 * 60_000,
  /** Silence for this long on a parked poll, more than two heartbeats, means that the connection is dead. */
  stallMs: 2.5 * relayLimits.heartbeatMs,
};
const maxAnswerChars = 8 * 1024 * 1024;

type Shape = Readonly<Record<string, (value: unknown) => boolean>>;
const isThere = () => true;

/** The keys that each answer must have, with a test of the value. */
const shapes = {
  poll: {
    epoch: isThere,
    now: isThere,
    cursor: isThere,
    rows: Array.isArray,
    controls: Array.isArray,
    phone: isPhone,
  },
  outbox: { epoch: isThere, items: Array.isArray },
  document: { items: Array.isArray },
  status: { version: isThere, mailboxes: Array.isArray },
  rehome: { platforms: Array.isArray },
  webhook: { platforms: Array.isArray },
  topic: { project: Number.isSafeInteger },
  deadLetters: { deadLetters: Array.isArray },
} satisfies Record<string, Shape>;

interface Ask {
  /** Absent = a GET. */
  body?: string | Readable;
  /** Default: `answerMs` for the whole call. */
  signal?: AbortSignal;
  headers?: Record<string, string>;
  /** Milliseconds of silence before the head of the answer. */
  headMs?: number;
}

/** Where the relay is, and the token that it knows. */
export interface RelayPair {
  readonly url: string;
  readonly token: string;
}

export function createRelayClient(
  first: RelayPair,
  { answerMs, fileMs, stallMs }: typeof patience = patience,
): RelayClient {
  let relay = first;
  let connection = connectTo(relay.url);

  async function exchange<T>(
    path: string,
    { body, signal = AbortSignal.timeout(answerMs), headers, headMs = answerMs }: Ask,
    read: (response: IncomingMessage) => Promise<T>,
  ): Promise<T> {
    const authorization = `Bearer ${relay.token}`;
    try {
      const response = await connection.exchange(path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization, 'content-type': 'application/json', ...headers },
        body,
        signal,
        headMs,
        bodyMs: stallMs,
      });
      return await read(response);
    } catch (cause) {
      throw cause instanceof WaError ? cause : unreachable(path, cause, signal);
    }
  }

  /** The answer, checked for its shape; undefined `shape` = any success. */
  function call<T>(path: string, shape: Shape | undefined, ask: Ask = {}): Promise<T> {
    return exchange(path, ask, async (response) => {
      const text = await readText(response, maxAnswerChars);
      const value = checked(response, text);
      if (shape === undefined || fits(value, shape)) return value as T;
      const what = `the relay's answer to ${path.split('?')[0]} is incomplete or of another kind`;
      throw new WaError('relay_bad_answer', `${what} (${text.length} bytes)`);
    });
  }

  function checked({ statusCode = 0 }: IncomingMessage, text: string): unknown {
    const value = parse(text);
    if (isFailure(value)) throw relayError(statusCode, value.error);
    if (statusCode >= 400 || (statusCode >= 300 && value === undefined)) throw statusError(statusCode, relay.url);
    return value;
  }

  function unreachable(path: string, cause: unknown, signal: AbortSignal): unknown {
    if (signal.aborted && !(signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError'))
      return cause;
    const code = (cause as NodeJS.ErrnoException).code ?? (cause as Error).name;
    return new WaError('relay_unreachable', `the relay did not answer ${path.split('?')[0]}: ${code}`, {
      hint: `Check the network and the address ${relay.url} (WA_RELAY_URL).`,
      cause,
    });
  }

  const ofFile = () => ({ signal: AbortSignal.timeout(fileMs), headMs: fileMs });

  return {
    poll: (body, signal) => call('/v1/poll', shapes.poll, { body: JSON.stringify(body), signal }),
    outbox: (body) => call('/v1/outbox', shapes.outbox, { body: JSON.stringify(body) }),
    status: () => call('/v1/status', shapes.status),
    webhook: () => call('/v1/webhook', shapes.webhook),
    makeTopic: (mailbox, name) => call('/v1/topics', shapes.topic, { body: JSON.stringify({ mailbox, name }) }),
    deadLetters: (address) => call(`/v1/dead-letters?${query(address)}`, shapes.deadLetters),
    actOnDeadLetter: (id, body) =>
      call(`/v1/dead-letters/${encodeURIComponent(id)}`, shapes.deadLetters, { body: JSON.stringify(body) }),
    typing: (address) => call('/v1/typing', undefined, { body: JSON.stringify(address) }),
    download: (address, fileId) =>
      exchange(`/v1/files/${encodeURIComponent(fileId)}?${query(address)}`, ofFile(), async (response) => {
        if (response.statusCode === 200) return response;
        checked(response, await readText(response, maxAnswerChars));
        throw statusError(response.statusCode ?? 0, relay.url);
      }),
    upload: (address, { content, bytes, ...named }) =>
      call(`/v1/files?${query({ ...address, ...named })}`, shapes.document, {
        ...ofFile(),
        body: Readable.from(content),
        headers: { 'content-type': 'application/octet-stream', 'content-length': String(bytes) },
      }),
    rehome: (body) => call('/v1/rehome', shapes.rehome, { body: JSON.stringify(body) }),
    reconnect: () => connection.reconnect(),
    moveTo(next) {
      void connection.close();
      relay = next;
      connection = connectTo(relay.url);
    },
    close: () => connection.close(),
  };
}

function fits(value: unknown, shape: Shape): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as Record<string, unknown>;
  return Object.entries(shape).every(([key, isValue]) => key in fields && isValue(fields[key]));
}

function query(values: object): string {
  return new URLSearchParams(
    Object.entries(values).map(([key, value]): [string, string] => [key, String(value)]),
  ).toString();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isFailure(value: unknown): value is { error: Record<string, unknown> } {
  return typeof value === 'object' && value !== null && 'error' in value && typeof value.error === 'object';
}

function relayError(statusCode: number, error: Record<string, unknown>): WaError {
  const code = isErrorCode(error.code) ? error.code : 'relay_error';
  const message = typeof error.message === 'string' ? error.message : `the relay answered ${statusCode}`;
  return new WaError(code, message, {
    ...(typeof error.hint === 'string' ? { hint: error.hint } : {}),
    ...(typeof error.retryAfterMs === 'number' ? { retryAfterMs: error.retryAfterMs } : {}),
  });
}

/** An answer that did not come from the relay's code: a proxy, a captive portal, another web site, an error page of Cloudflare. */
function statusError(statusCode: number, url: string): WaError {
  if (statusCode === 401) {
    return new WaError('unauthorized', 'the relay does not know this token', {
      hint: 'Set WA_AGENT_TOKEN to the token whose SHA-256 the Worker has in WA_AGENT_TOKEN_SHA256.',
    });
  }
  return new WaError('relay_error', `${new URL(url).origin} answered ${statusCode} without a wa-sync answer`, {
    hint: 'Check that WA_RELAY_URL is the address of your Worker, without a path.',
  });
}
