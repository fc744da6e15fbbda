// One exchange of HTTP/1.1 over node:http, for the relay and the local socket. A client library of its own would cost an idle daemon a
// fifth of its memory.

import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { Readable } from 'node:stream';

/** An import of node:http would load all that it exports, WebSocket with a whole client among it. */
export const http = process.getBuiltinModule('node:http');

export interface Exchange {
  method: string;
  headers?: Record<string, string>;
  body?: string | Readable | undefined;
  /** False = a connection for this exchange alone. */
  agent: Agent | false;
  socketPath?: string;
  signal?: AbortSignal | undefined;
  /** Milliseconds of silence before the head of the answer, and within its body, after which the peer counts as gone. */
  headMs: number;
  bodyMs: number;
}

/** Rejects with the error of the connection, `ETIMEDOUT` for silence; later such an error is one of the answer's stream. */
export function exchange(
  url: string,
  { body, headMs, bodyMs, ...options }: Exchange,
  start: (url: string, options: RequestOptions) => ClientRequest = http.request,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const call = start(url, { ...options, timeout: headMs });
    call.on('timeout', () => call.destroy(Object.assign(new Error('no sign of the peer'), { code: 'ETIMEDOUT' })));
    call.on('error', reject);
    call.on('response', (response) => {
      call.setTimeout(bodyMs);
      resolve(response);
    });
    if (body instanceof Readable) body.on('error', (cause) => call.destroy(cause)).pipe(call);
    else call.end(body);
  });
}

/** Errors: that of the connection, an answer that ended early, and one of more than `maxChars`. */
export async function readText(response: IncomingMessage, maxChars: number): Promise<string> {
  let text = '';
  response.setEncoding('utf8');
  for await (const chunk of response) {
    text += chunk;
    if (text.length > maxChars) throw new Error('answer too large');
  }
  if (!response.complete) throw new Error('answer cut off');
  return text;
}
