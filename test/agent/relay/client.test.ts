// The daemon's calls to a relay that takes its time.

import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createRelayClient, type RelayClient } from '../../../agent/relay/client.ts';

const address = { mailbox: '1000001', project: 0 };

let server: Server;
let client: RelayClient;
/** Calls without an answer, by path. */
let open: Map<string, ServerResponse>;

beforeEach(async () => {
  open = new Map();
  server = createServer((request, response) => {
    request.resume().on('end', () => {
      open.set(request.url?.split('?')[0] ?? '', response);
      server.emit('asked');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = createRelayClient({ url, token: 't' }, { answerMs: 50, fileMs: 60_000, stallMs: 200 });
});

afterEach(async () => {
  await client.close();
  server.closeAllConnections();
  server.close();
});

async function asked(path: string): Promise<ServerResponse> {
  for (;;) {
    const response = open.get(path);
    if (response) return response;
    await once(server, 'asked');
  }
}

/** Any other call has waited in vain meanwhile. */
async function longerThanAnAnswerMayTake(): Promise<void> {
  await expect(client.status()).rejects.toMatchObject({ code: 'relay_unreachable' });
  await expect(client.deadLetters(address)).rejects.toMatchObject({ code: 'relay_unreachable' });
}

it('the answer to a document may take longer than any other', async () => {
  const content = (async function* () {
    yield Buffer.from('text');
  })();
  const sent = client.upload(address, { key: 'k', name: 'a.txt', caption: '', bytes: 4, content });
  const response = await asked('/v1/files');
  await longerThanAnAnswerMayTake();
  response.end('{"items":[{"key":"k","state":"sent"}]}');
  expect(await sent).toEqual({ items: [{ key: 'k', state: 'sent' }] });
});

it('the first byte of a file of the phone may take longer than any other answer', async () => {
  const fetched = client.download(address, 'f1');
  const response = await asked('/v1/files/f1');
  await longerThanAnAnswerMayTake();
  response.end('JPEG');
  const chunks: Uint8Array[] = [];
  for await (const chunk of await fetched) chunks.push(chunk);
  expect(Buffer.concat(chunks).toString()).toBe('JPEG');
});

it('a parked poll without heartbeats is given up like a dead connection', async () => {
  const polled = client.poll(
    { ...address, epoch: null, daemon: { id: 'd', startedAt: 1 }, after: 0, holdMs: 25_000, receipts: [] },
    new AbortController().signal,
  );
  const response = await asked('/v1/poll');
  response.write('\n');
  await expect(polled).rejects.toMatchObject({ code: 'relay_unreachable' });
});

it('a relay on the internet is reached through the proxy of the environment, except for names in NO_PROXY', async () => {
  const tunnels: string[] = [];
  const proxy = createServer().on('connect', (request, socket) => {
    tunnels.push(request.url ?? '');
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  vi.stubEnv('HTTPS_PROXY', `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  vi.stubEnv('NO_PROXY', '127.0.0.1');
  try {
    for (const url of ['https://relay.example:8443', 'https://127.0.0.1:1']) {
      const behindProxy = createRelayClient({ url, token: 't' });
      await expect(behindProxy.status()).rejects.toMatchObject({ code: 'relay_unreachable' });
      await behindProxy.close();
    }
    expect(tunnels).toEqual(['relay.example:8443']);
  } finally {
    vi.unstubAllEnvs();
    proxy.closeAllConnections();
    proxy.close();
  }
});
