// workers.dev on this machine: one address that runs the deployed script in workerd, with its bindings and with storage that survives
// each new version. A request that arrives while a version replaces the other waits for the new one.

import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type EmbeddedRelay, startEmbeddedRelay } from '../../../agent/dev/embedded-relay.ts';
import type { Script } from './upload.ts';

type Deployed = Pick<Script, 'code' | 'bindings'>;

export interface Edge {
  readonly url: string;
  /**
   * Undefined = nothing is deployed. Requests that the former version still answers are cut off, as at a real deployment; an upload
   * that changes nothing cuts nothing off.
   */
  serve(script: Script | undefined): Promise<void>;
  /** How many requests the Worker has answered with 401. */
  refused(): number;
  /** The next requests find nothing here yet. */
  notReadyFor(requests: number): void;
  close(): Promise<void>;
}

export async function startEdge(folder: string): Promise<Edge> {
  let script: Deployed | undefined;
  let running: Promise<EmbeddedRelay> | undefined;
  let blind = 0;
  let refused = 0;

  const stop = async () => {
    const before = running;
    running = undefined;
    await (await before?.catch(() => undefined))?.stop();
  };

  const start = async ({ code, bindings }: Deployed): Promise<EmbeddedRelay> => {
    const workerScript = join(folder, 'deployed.js');
    await writeFile(workerScript, code);
    const vars = Object.fromEntries(bindings.flatMap(({ name, text }) => (text === undefined ? [] : [[name, text]])));
    return startEmbeddedRelay({
      workerScript,
      persistDir: join(folder, 'storage'),
      cacheDir: folder,
      vars,
      say: () => {},
    });
  };

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    if (script === undefined || blind > 0) {
      blind = Math.max(0, blind - 1);
      incoming.resume();
      outgoing.writeHead(404, { 'content-type': 'text/html' }).end('<h1>There is nothing here yet</h1>');
      return;
    }
    running ??= start(script);
    const { port } = new URL((await running).url);
    const { method, url, headers } = incoming;
    const inner = request({ host: '127.0.0.1', port, method, path: url, headers }, (response) => {
      if (response.statusCode === 401) refused += 1;
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.on('error', () => outgoing.destroy());
      response.pipe(outgoing);
    });
    inner.on('error', () => outgoing.destroy());
    outgoing.on('close', () => inner.destroy());
    incoming.pipe(inner);
  }

  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async serve(given) {
      const next = given && { code: given.code, bindings: [...given.bindings] };
      if (isDeepStrictEqual(next, script)) return;
      script = next;
      const wasRunning = running !== undefined;
      const stopped = stop();
      if (next === undefined || !wasRunning) return stopped;
      const started = stopped.then(() => start(next));
      running = started;
      await started;
    },
    refused: () => refused,
    notReadyFor(requests) {
      blind = requests;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await stop();
    },
  };
}
