// A call of the daemon's local routes without a socket.

import type { LocalApp } from '../../agent/local-server/serve.ts';

interface Sent {
  body: string | Uint8Array;
  headers?: Record<string, string>;
}

/** The reader that cancels the body of a held answer has gone away. */
export async function posted(app: LocalApp, path: string, { body, headers = {} }: Sent): Promise<Response> {
  async function* chunks() {
    yield Buffer.from(body);
  }
  const call = {
    header: (name: string) => headers[name],
    body: chunks(),
    signal: new AbortController().signal,
  };
  return new Response(await app.answer('POST', path, call));
}
