// The network between Telegram and the relay, with faults: lost answers, updates that come twice, late or out of order.
// It never answers for the relay: what it says 200 to, the relay said 200 to.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export type GateFault =
  /** The relay gets it, Telegram never hears so and brings it again. */
  { kind: 'loseAnswer' } | { kind: 'loseRequest' } | { kind: 'twice' } | { kind: 'late'; ms: number };

export interface Gate {
  readonly url: string;
  arm(fault: GateFault): void;
  /** Brings an update that passed earlier once more; `back` = how many updates ago. */
  replay(back: number): Promise<void>;
  /** Brings an update of our own until the relay has taken it. */
  bring(update: object): Promise<void>;
  heal(): void;
  close(): Promise<void>;
}

const keptUpdates = 300;

export async function startGate(target: () => string, secret: string): Promise<Gate> {
  const armed: GateFault[] = [];
  const passed: string[] = [];
  const closing = new AbortController();

  async function forward(body: string): Promise<{ status: number; retryAfter: string | null; text: string }> {
    const response = await fetch(`${target()}/telegram/webhook`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': secret },
      body,
      signal: AbortSignal.any([closing.signal, AbortSignal.timeout(30_000)]),
    });
    return { status: response.status, retryAfter: response.headers.get('retry-after'), text: await response.text() };
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    const fault = armed.shift();
    if (fault?.kind === 'loseRequest') return void response.destroy();
    if (fault?.kind === 'late') await delay(fault.ms, undefined, { signal: closing.signal });
    const first = await forward(body);
    passed.push(body);
    if (passed.length > keptUpdates) passed.shift();
    const answer = fault?.kind === 'twice' ? await forward(body) : first;
    if (fault?.kind === 'loseAnswer') return void response.destroy();
    const headers = answer.retryAfter === null ? {} : { 'retry-after': answer.retryAfter };
    response.writeHead(answer.status, headers).end(answer.text);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/telegram/webhook`,
    arm: (fault) => armed.push(fault),
    async replay(back) {
      const body = passed[passed.length - 1 - back];
      if (body !== undefined) await forward(body).catch(() => {});
    },
    async bring(update) {
      while (!closing.signal.aborted) {
        const taken = await forward(JSON.stringify(update)).then(
          ({ status }) => status === 200,
          () => false,
        );
        if (taken) return;
        await delay(200, undefined, { signal: closing.signal }).catch(() => {});
      }
    },
    heal: () => {
      armed.length = 0;
    },
    async close() {
      closing.abort();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
