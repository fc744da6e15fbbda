// The daemon's calls to a relay that takes its time.

import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createRelayClient, type RelayClient } from '../../agent/relay-client.ts';

const address = { mailbox: '1000001', project: 0 };

let server: Server;
let client: RelayClient;
/** Calls that nobody has answered, by path. */
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
  client = createRelayClient({ url, token: 't' }, { answerMs: 50, fileMs: 60_000 });
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
  await expect(client.letters(address)).rejects.toMatchObject({ code: 'relay_unreachable' });
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
