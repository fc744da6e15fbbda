import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
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

async function called(): Promise<{ call: unknown; response: ServerResponse }> {
  const [request, response] = (await once(daemon, 'request')) as [IncomingMessage, ServerResponse];
  return { call: await json(request), response };
}

it('a poll that has waited for long goes on with the daemon that follows a killed one, for the rest of its time', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const calls = createDaemonCalls({ runtime }, '/home/dev/shop', () => 'client');
  await serve();
  const polled = calls.poll({ limit: 1, timeoutMs: 60_000 }, new AbortController().signal);
  const first = await called();
  expect(first.call).toMatchObject({ limit: 1, timeoutMs: 60_000 });
  vi.advanceTimersByTime(50_000);
  first.response.socket?.destroy();
  daemon.close();
  await once(daemon, 'close');
  await serve();
  const second = await called();
  expect(second.call).toMatchObject({ limit: 1, timeoutMs: 10_000 });
  second.response.end('{"messages":[]}');
  expect(await polled).toEqual({ messages: [] });
});

it('a daemon that breaks at each try is told once the time of one restart is over', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  await serve();
  let tries = 0;
  daemon.on('request', (request) => {
    tries += 1;
    vi.advanceTimersByTime(14_000);
    request.socket.destroy();
  });
  const { ack } = createDaemonCalls({ runtime }, '/home/dev/shop', () => 'client');
  await expect(ack(['msg_1'])).rejects.toMatchObject({ code: 'daemon_not_running' });
  expect(tries).toBe(4);
});
