// A client of the Bot API whose calls go through the proxy that the environment names.

import { Api } from 'grammy/web';
import { readText } from '../http.ts';
import { connectTo } from '../relay/connection.ts';

/** A hundred updates of the largest messages are far below. */
const maxAnswerChars = 16 * 1024 * 1024;

export interface BotApiPlace {
  token: string;
  /** The Bot API server, without a trailing slash. */
  apiRoot: string;
  /** Of one call, that of a long poll included. */
  timeoutSeconds: number;
}

/** Calls reject with the errors of grammY, see `asWaError`. */
export function openApi({ token, apiRoot, timeoutSeconds }: BotApiPlace): Api {
  const connection = connectTo(apiRoot);
  const limitMs = timeoutSeconds * 1000;
  async function call(url: unknown, { method = 'GET', headers, body, signal }: RequestInit = {}): Promise<Response> {
    const response = await connection.exchange(String(url).slice(apiRoot.length), {
      method,
      headers: Object.fromEntries(new Headers(headers)),
      // Without files each call of grammY is JSON.
      body: typeof body === 'string' ? body : undefined,
      signal: signal ?? undefined,
      headMs: limitMs,
      bodyMs: limitMs,
    });
    return new Response(await readText(response, maxAnswerChars), { status: response.statusCode ?? 502 });
  }
  return new Api(token, { apiRoot, timeoutSeconds, fetch: call as typeof fetch });
}
