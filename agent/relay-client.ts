// The daemon's only way to the relay: its calls over kept-alive HTTPS, each answer checked for shape, each failure a code.
// Never follows a redirect and never sends the token to another origin.

import { Readable } from 'node:stream';
import { Agent, type Dispatcher, EnvHttpProxyAgent, request } from 'undici';
import { isErrorCode, WaError } from '../protocol/errors.ts';
import { relayLimits } from '../protocol/limits.ts';
import type {
  DocumentAnswer,
  LetterAction,
  LettersAnswer,
  OutboxAnswer,
  OutboxRequest,
  PollAnswer,
  PollRequest,
  StatusAnswer,
} from '../protocol/relay-api.ts';

export interface RelayClient {
  /** Held up to `holdMs`. Errors: every code of the relay's API, `relay_unreachable`, `relay_bad_answer` (poll again now). */
  poll(body: PollRequest, signal: AbortSignal): Promise<PollAnswer>;
  outbox(body: OutboxRequest): Promise<OutboxAnswer>;
  status(): Promise<StatusAnswer>;
  letters(address: Address): Promise<LettersAnswer>;
  actOnLetter(id: string, body: LetterAction): Promise<LettersAnswer>;
  /** Shows "typing" on the phone for some seconds. */
  typing(address: Address): Promise<void>;
  /** The bytes of a file of the phone, as they come. Errors: `not_found`, `body_too_large`, and those of every call. */
  download(address: Address, fileId: string): Promise<AsyncIterable<Uint8Array>>;
  /** Streams a document to the phone; the key makes it once. */
  upload(address: Address, document: Upload): Promise<DocumentAnswer>;
  /** Drops every connection: after a sleep they look open and are dead. */
  reconnect(): void;
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

/** How long a call may take. `answer` also ends one whose headers do not come, but never that of a file. */
const patience = {
  answerMs: 20_000,
  /** Telegram takes its time for 50 MB, and the relay answers when Telegram has. */
  fileMs: 5 * 60_000,
  /** Silence for this long on a parked poll, more than two heartbeats, means that the connection is dead. */
  stallMs: 2.5 * relayLimits.heartbeatMs,
};
const maxAnswerBytes = 8 * 1024 * 1024;

export function createRelayClient(
  relay: { url: string; token: string },
  { answerMs, fileMs, stallMs }: typeof patience = patience,
): RelayClient {
  const loopback = /^http:/.test(relay.url);
  const connect = (): Dispatcher => {
    const options = { bodyTimeout: stallMs, connect: { timeout: 10_000 }, connections: 32 };
    return loopback ? new Agent(options) : new EnvHttpProxyAgent(options);
  };
  let dispatcher = connect();

  async function call<T>(method: 'GET' | 'POST', path: string, body: unknown, signal: AbortSignal, isAnswer: Guard<T>) {
    const json = body === undefined ? null : JSON.stringify(body);
    const { statusCode, text } = await exchange(method, path, json, signal);
    const value = checked(statusCode, text);
    if (!isAnswer(value)) {
      throw new WaError(
        'relay_bad_answer',
        `the relay's answer to ${path} ended early or is no answer (${text.length} bytes)`,
      );
    }
    return value;
  }

  function checked(statusCode: number, text: string): unknown {
    const value = parse(text);
    if (isFailure(value)) throw relayError(statusCode, value.error);
    if (statusCode >= 400 || (statusCode >= 300 && value === undefined)) throw statusError(statusCode, relay.url);
    return value;
  }

  async function send(
    method: 'GET' | 'POST',
    path: string,
    body: RequestBody,
    signal: AbortSignal,
    { headersTimeout = answerMs, headers = {} }: SendOptions = {},
  ) {
    try {
      return await request(`${relay.url}${path}`, {
        method,
        dispatcher,
        signal,
        headersTimeout,
        headers: { authorization: `Bearer ${relay.token}`, 'content-type': 'application/json', ...headers },
        body,
      });
    } catch (cause) {
      throw unreachable(path, cause, signal);
    }
  }

  async function exchange(
    method: 'GET' | 'POST',
    path: string,
    body: RequestBody,
    signal: AbortSignal,
    options?: SendOptions,
  ) {
    const response = await send(method, path, body, signal, options);
    try {
      return { statusCode: response.statusCode, text: await readText(response.body) };
    } catch (cause) {
      throw unreachable(path, cause, signal);
    }
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

  const soon = () => AbortSignal.timeout(answerMs);

  return {
    poll: (body, signal) => call('POST', '/v1/poll', body, signal, isPollAnswer),
    outbox: (body) => call('POST', '/v1/outbox', body, soon(), isOutboxAnswer),
    status: () => call('GET', '/v1/status', undefined, soon(), isStatusAnswer),
    letters: (address) => call('GET', `/v1/letters?${query(address)}`, undefined, soon(), isLettersAnswer),
    actOnLetter: (id, body) => call('POST', `/v1/letters/${encodeURIComponent(id)}`, body, soon(), isLettersAnswer),
    async typing(address) {
      const { statusCode, text } = await exchange('POST', '/v1/typing', JSON.stringify(address), soon());
      checked(statusCode, text);
    },
    async download(address, fileId) {
      const path = `/v1/files/${encodeURIComponent(fileId)}?${query(address)}`;
      const { statusCode, body } = await send('GET', path, null, AbortSignal.timeout(fileMs), {
        headersTimeout: fileMs,
      });
      if (statusCode === 200) return body;
      checked(statusCode, await readText(body));
      throw statusError(statusCode, relay.url);
    },
    async upload(address, { key, name, caption, bytes, content }) {
      const path = `/v1/files?${query({ ...address, key, name, caption })}`;
      const headers = { 'content-type': 'application/octet-stream', 'content-length': String(bytes) };
      const signal = AbortSignal.timeout(fileMs);
      const { statusCode, text } = await exchange('POST', path, Readable.from(content), signal, {
        headers,
        headersTimeout: fileMs,
      });
      const value = checked(statusCode, text);
      if (!isDocumentAnswer(value)) throw new WaError('relay_bad_answer', 'the answer to the upload ended early');
      return value;
    },
    reconnect() {
      const old = dispatcher;
      dispatcher = connect();
      old.destroy().catch(() => {});
    },
    close: () => dispatcher.destroy(),
  };
}

type RequestBody = string | Readable | null;

interface SendOptions {
  headers?: Record<string, string>;
  /** Milliseconds without the head of an answer, counted from the start of the request. */
  headersTimeout?: number;
}

function query(values: object): string {
  return new URLSearchParams(
    Object.entries(values).map(([key, value]): [string, string] => [key, String(value)]),
  ).toString();
}

async function readText(body: Readable): Promise<string> {
  let text = '';
  body.setEncoding('utf8');
  for await (const chunk of body) {
    text += chunk;
    if (text.length > maxAnswerBytes) throw new Error('answer too large');
  }
  return text;
}

type Guard<T> = (value: unknown) => value is T;

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

/** An answer that is not ours: a proxy, a captive portal, another web site, Cloudflare's own error page. */
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

function has(value: unknown, keys: string[]): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && keys.every((key) => key in value);
}

function isPollAnswer(value: unknown): value is PollAnswer {
  return (
    has(value, ['epoch', 'now', 'rows', 'controls', 'cursor']) &&
    Array.isArray(value.rows) &&
    Array.isArray(value.controls)
  );
}

function isOutboxAnswer(value: unknown): value is OutboxAnswer {
  return has(value, ['epoch']) && isDocumentAnswer(value);
}

function isDocumentAnswer(value: unknown): value is DocumentAnswer {
  return has(value, ['items']) && Array.isArray(value.items);
}

function isStatusAnswer(value: unknown): value is StatusAnswer {
  return has(value, ['version', 'mailboxes']) && Array.isArray(value.mailboxes);
}

function isLettersAnswer(value: unknown): value is LettersAnswer {
  return has(value, ['letters']) && Array.isArray(value.letters);
}
