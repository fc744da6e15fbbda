// HTTP on the local socket, over node:http alone: the Request and Response of a library would cost an idle daemon a sixth of its
// memory. Knows no route.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

export interface LocalCall {
  /** By its name in lower case; undefined = not sent. */
  header(name: string): string | undefined;
  readonly body: AsyncIterable<Uint8Array>;
  /** The caller has gone away. */
  readonly signal: AbortSignal;
}

/** JSON text. */
export type LocalAnswer = string | ReadableStream<Uint8Array>;

/** `params` = the segments of the path that the route leaves open, decoded, in their order. */
export type LocalRoute = (call: LocalCall, ...params: string[]) => LocalAnswer | Promise<LocalAnswer>;

export interface LocalApp {
  /** Never rejects. */
  answer(method: string, path: string, call: LocalCall): Promise<LocalAnswer>;
}

/** `routes`: by method and path, as in `POST /hook/:tool/:event`. `otherwise`: at any other address, and for a route that fails. */
export function createLocalApp(routes: Readonly<Record<string, LocalRoute>>, otherwise: string): LocalApp {
  const table = Object.entries(routes).map(([address, route]) => {
    const [method, path = ''] = address.split(' ');
    return { method, segments: path.split('/'), route };
  });
  return {
    async answer(method, path, call) {
      const given = path.replace(/[?#].*$/s, '').split('/');
      const fits = (segment: string, at: number) => segment.startsWith(':') || segment === given[at];
      const found = table.find(
        (each) => each.method === method && each.segments.length === given.length && each.segments.every(fits),
      );
      try {
        const params = given.filter((_, at) => found?.segments[at]?.startsWith(':')).map(decodeURIComponent);
        return found ? await found.route(call, ...params) : otherwise;
      } catch {
        return otherwise;
      }
    },
  };
}

export function listener(app: LocalApp): RequestListener {
  return (request, response) => {
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const call = { header: (name: string) => headerOf(request, name), body: request, signal: gone.signal };
    app
      .answer(request.method ?? '', request.url ?? '', call)
      .then((answer) => write(answer, response))
      .catch(() => response.destroy());
  };
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

async function write(answer: LocalAnswer, response: ServerResponse): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  // In pieces comes only what is kept alive: by that the launcher's client knows it.
  if (typeof answer === 'string') {
    return void response.writeHead(200, { ...headers, 'content-length': Buffer.byteLength(answer) }).end(answer);
  }
  response.writeHead(200, headers);
  const reader = answer.getReader();
  response.on('close', () => void reader.cancel().catch(() => {}));
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    response.write(value);
  }
  response.end();
}

/** Of a longer body the beginning: the rest is read and dropped. Rejects when the caller goes away. */
export async function readBody({ body }: LocalCall, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
