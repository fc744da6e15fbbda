import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createDaemonCalls } from '../../../agent/mcp/daemon-calls.ts';
import { socketFileName } from '../../../protocol/hook.ts';
import { temporaryFolder } from '../../helpers/surroundings.ts';

let runtime: string;
let daemon: Server;

beforeEach(async () => {
  runtime = await temporaryFolder();
});
afterEach(() => {
  vi.useRealTimers();
  daemon.close();
});

/** Stands for a daemon. */
async function serve() {
  daemon = createServer().listen(join(runtime, socketFileName));
  await once(daemon, 'listening');
}

async function called(): Promise<ServerResponse> {
  const [, response] = await once(daemon, 'request');
  return response;
}

it('a poll that has waited for long goes on with the daemon that follows a killed one', async () => {
  const calls = createDaemonCalls({ runtime }, '/home/dev/shop', () => 'client');
  await serve();
  const polled = calls.poll({ limit: 1, timeoutMs: 60_000 }, new AbortController().signal);
  const waiting = await called();
  vi.useFakeTimers({ toFake: ['performance'], now: Date.now() });
  vi.advanceTimersByTime(50_000);
  waiting.socket?.destroy();
  daemon.close();
  await once(daemon, 'close');
  await serve();
  (await called()).end('{"messages":[]}');
  expect(await polled).toEqual({ messages: [] });
});
