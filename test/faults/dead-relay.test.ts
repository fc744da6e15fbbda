// The built daemon in front of a relay that is away: what its log says, and that it says little.

import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { isoSeconds } from '../../protocol/files.ts';
import { createWorkstation, until, type Workstation } from '../helpers/daemon.ts';
import { type FarSide, startFarSide } from '../helpers/stack.ts';

let far: FarSide;
let ws: Workstation;
let line: Server;
let tries: number;
let isAway: boolean;
const sockets = new Set<Socket>();

beforeAll(async () => {
  far = await startFarSide();
});
afterAll(() => far.close());
beforeEach(async () => {
  tries = 0;
  isAway = true;
  line = createServer((client) => {
    tries += 1;
    sockets.add(client.on('error', () => {}));
    if (isAway) return void client.destroy();
    const relay = connect(Number(new URL(far.url).port), '127.0.0.1');
    sockets.add(relay.on('error', () => client.destroy()));
    client.pipe(relay).pipe(client);
  });
  await new Promise<void>((resolve) => line.listen(0, '127.0.0.1', resolve));
  ws = await createWorkstation({ ...far, url: `http://127.0.0.1:${(line.address() as AddressInfo).port}` });
});
afterEach(async () => {
  await ws.close();
  for (const socket of sockets) socket.destroy();
  line.close();
});

async function events(): Promise<string[]> {
  const text = await readFile(join(ws.stateDir, 'wa-sync.log'), 'utf8').catch(() => '');
  return text.split('\n').flatMap((entry) => (entry === '' ? [] : [(JSON.parse(entry) as { event: string }).event]));
}

it('the log has one line when the relay goes and one when it is back, however often it was tried', async () => {
  const entry = { id: 'r', timestamp: isoSeconds(Date.now()), from: 'agent', text: 'waits', sent: false };
  await ws.foreignWrite(ws.outboxFile, { messages: [entry] });
  await ws.runDaemon();
  await until('poll and outbox were tried again and again', () => tries >= 8);
  expect((await events()).filter((event) => event !== 'daemon started')).toEqual(['relay failing']);
  isAway = false;
  await until('the text is on the phone', () => ws.chat.fromBot().length > 0);
  await until('the log says so', async () => (await events()).includes('relay works again'));
  expect((await events()).filter((event) => event !== 'daemon started')).toEqual([
    'relay failing',
    'relay works again',
  ]);
});
