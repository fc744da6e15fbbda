// HTTP of the simulated Bot API: `/bot<token>/<method>` and `/file/bot<token>/<path>`. Checks the token, records every
// call, plays scripted failures. Knows no method.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { type FailureScript, failureAnswer, type RawAnswer } from './failures.ts';
import type { Method } from './methods.ts';
import { readParams, recordable } from './params.ts';
import { Refusal } from './refusal.ts';
import type { ApiCall, Params } from './types.ts';

export interface ApiServerOptions {
  token: string;
  /** Names in lower case: the Bot API ignores case. */
  methods: ReadonlyMap<string, { name: string; run: Method }>;
  failures: FailureScript;
  file(path: string): Uint8Array | undefined;
  record(call: ApiCall): void;
  clock: () => number;
}

/** Answers a request of the Bot API; false = not a request of the Bot API. */
export type ApiHandler = (request: IncomingMessage, response: ServerResponse, url: URL) => boolean;

export function createApiHandler(options: ApiServerOptions): ApiHandler {
  const { token, methods, failures, file, record, clock } = options;
  let calls = 0;

  async function answerMethod(
    request: IncomingMessage,
    response: ServerResponse,
    url: URL,
    name: string,
  ): Promise<void> {
    calls += 1;
    const call: ApiCall = { id: calls, at: clock(), method: name, params: {}, answer: { status: 0, body: undefined } };
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const method = methods.get(name.toLowerCase());
    if (method) call.method = method.name;
    const failure = failures.take(call.method);
    const run = async (): Promise<RawAnswer> => {
      try {
        const params = await readParams(request, url.searchParams);
        call.params = recordable(params);
        if (failure && !failure.afterEffect) return failureAnswer(failure);
        if (!method) throw new Refusal(404, 'Not Found');
        return { status: 200, headers: {}, body: { ok: true, result: await method.run(params, gone.signal) } };
      } catch (error) {
        return refusalAnswer(error);
      }
    };
    const effective = await run();
    const answer = failure?.afterEffect ? failureAnswer(failure) : effective;
    const lost = failure?.hang || failure?.reset;
    if (!lost) call.answer = { status: answer.status, body: answer.body };
    record(call);
    if (failure?.reset) request.socket.destroy();
    else if (!failure?.hang) send(response, answer);
  }

  return (request, response, url) => {
    const match = /^\/(file\/)?bot([^/]*)\/(.*)$/.exec(url.pathname);
    if (!match) return false;
    if (match[2]?.replace('%3A', ':') !== token) {
      request.resume();
      send(response, refusalAnswer(new Refusal(401, 'Unauthorized')));
    } else if (match[1]) {
      const data = file(match[3] ?? '');
      if (data) response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(data);
      else send(response, refusalAnswer(new Refusal(404, 'Not Found')));
    } else {
      answerMethod(request, response, url, match[3] ?? '').catch(() => request.socket.destroy());
    }
    return true;
  };
}

/** Runs a method of a webhook answer; the result is lost. */
export function runQuietly(methods: ApiServerOptions['methods'], name: string, params: Params): void {
  const method = methods.get(name.toLowerCase());
  if (!method || /^(get|setwebhook$|deletewebhook$|close$|logout$)/i.test(name)) return;
  try {
    method.run(params, new AbortController().signal);
  } catch {
    // Telegram drops the error too.
  }
}

function refusalAnswer(error: unknown): RawAnswer {
  if (!(error instanceof Refusal)) throw error;
  const retryAfter = error.parameters?.retry_after;
  return {
    status: error.status,
    headers: retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) },
    body: error.body(),
  };
}

function send(response: ServerResponse, { status, headers, body }: RawAnswer): void {
  if (response.destroyed) return;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const contentType = typeof body === 'string' ? 'text/html' : 'application/json';
  response.writeHead(status, { 'content-type': contentType, ...headers }).end(text);
}
