import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { createLocalApp, listener } from '../../../agent/local-server/serve.ts';

it('tells the length of an answer that is there, and sends in pieces only what is kept alive', async () => {
  const answer = '{"text":"grüße"}\n';
  const app = createLocalApp({ 'GET /now': () => answer, 'GET /held': () => new Blob([answer]).stream() }, '{}');
  const server = createServer(listener(app));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const asked = (path: string) =>
    new Promise<object>((resolve, reject) => {
      get({ port, path, host: '127.0.0.1', agent: false }, async (response) => {
        const { 'content-length': length, 'transfer-encoding': encoding } = response.headers;
        resolve({ length, encoding, text: await text(response) });
      }).on('error', reject);
    });
  const bytes = String(Buffer.byteLength(answer));
  expect(await asked('/now')).toEqual({ length: bytes, encoding: undefined, text: answer });
  expect(await asked('/held')).toEqual({ length: undefined, encoding: 'chunked', text: answer });
  server.close();
});
