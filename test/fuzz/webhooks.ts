// Fuzzes the webhook of the built Worker in workerd: what to send, where to send it, and what came back. Holds no expectations.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { relayLimits } from '../../protocol/limits.ts';
import type { PollAnswer, StatusAnswer } from '../../protocol/relay-api.ts';
import { builtRelay } from '../../scripts/lab/relay.ts';
import { anyBytes, anyJson, mutated } from './any-json.ts';
import { controlWorker, type MemorySamples, memoryBelow } from './memory.ts';
import { recordedUpdates } from './recorded.ts';

export interface WebhookResult {
  runs: number;
  /** How often each status was answered. */
  statuses: Record<string, number>;
  /** Bodies that were answered with anything but 200, and 413 for what is too large. At most ten. */
  wrong: { status: number; body: string }[];
  /** Rows that a workstation fetched meanwhile. */
  delivered: number;
  /** Of the relay and of a control that got the same bodies; null where it cannot be measured. */
  memory: MemorySamples | null;
}

const concurrency = 8;
const samples = 40;
/** Below the room of a mailbox, so that full ones do not hide what else fails. */
const drainEvery = 2_000;
const owner = '1000001';

/** The body of one webhook; `number` makes most updates new ones. */
function anyUpdate(number: number): fc.Arbitrary<Uint8Array> {
  const recorded = mutated(recordedUpdates.map(({ value }) => ({ ...(value as object), update_id: number })));
  const large = fc.constant(
    Buffer.from(JSON.stringify({ update_id: number, pad: 'x'.repeat(relayLimits.webhookBodyBytes) })),
  );
  return fc.oneof(
    { weight: 80, arbitrary: recorded.map((value) => Buffer.from(JSON.stringify(value) ?? '')) },
    { weight: 12, arbitrary: anyJson.map((value) => Buffer.from(JSON.stringify(value))) },
    { weight: 7, arbitrary: anyBytes(recorded) },
    { weight: 1, arbitrary: large },
  );
}

export async function fuzzWebhooks(runs: number, seed: number): Promise<WebhookResult> {
  const dir = await mkdtemp(join(tmpdir(), 'wa-fuzz-'));
  const bot = await startBotApi();
  const chats = chatsOf(recordedUpdates.map(({ value }) => value));
  const controlScript = join(dir, 'control.js');
  await writeFile(controlScript, controlWorker);
  const build = (name: string, workerScript: string) =>
    builtRelay({
      workerScript,
      persistDir: join(dir, name),
      cacheDir: join(dir, 'cache'),
      bot: {
        token: '100000001:of-the-fuzzer',
        apiRoot: `http://127.0.0.1:${(bot.address() as AddressInfo).port}`,
      },
      chats,
      owner,
    });
  const built = build('relay', fileURLToPath(new URL('../../dist/worker.js', import.meta.url)));
  const builtControl = build('control', controlScript);
  const relay = await built.start();
  const control = await builtControl.start();
  const { token, secret } = built;
  const url = built.url();
  const statuses: Record<string, number> = {};
  const wrong: WebhookResult['wrong'] = [];
  const memory: MemorySamples = { relay: [], control: [] };
  let delivered = 0;

  async function post(to: string, body: Uint8Array): Promise<number> {
    const response = await fetch(`${to}/telegram/webhook`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': secret },
      body: Buffer.from(body),
    });
    await response.arrayBuffer();
    return response.status;
  }

  async function send(number: number): Promise<void> {
    const [body = new Uint8Array()] = fc.sample(anyUpdate(900_000_000 + number), { numRuns: 1, seed: seed + number });
    let status = await post(url, body);
    await post(builtControl.url(), body);
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (status === 503) {
      // A full mailbox, which the platform keeps the update for: it comes again when the workstation has taken some.
      delivered += await drain(url, token);
      status = await post(url, body);
    }
    const expected = body.length > relayLimits.webhookBodyBytes ? 413 : 200;
    if (status !== expected && wrong.length < 10) {
      wrong.push({ status, body: Buffer.from(body).subarray(0, 2_000).toString() });
    }
  }

  try {
    for (let start = 0; start < runs; start += concurrency) {
      const batch = Array.from({ length: Math.min(concurrency, runs - start) }, (_, index) => send(start + index));
      await Promise.all(batch);
      const passed = (every: number) => Math.floor(start / every) < Math.floor((start + concurrency) / every);
      if (passed(Math.max(concurrency, runs / samples))) {
        memory.relay.push(await memoryBelow(relay.pid));
        memory.control.push(await memoryBelow(control.pid));
      }
      if (passed(drainEvery)) delivered += await drain(url, token);
    }
    delivered += await drain(url, token);
  } finally {
    await Promise.all([relay.stop(), control.stop()]);
    await new Promise((resolve) => bot.close(resolve));
    await rm(dir, { recursive: true, force: true });
  }
  const isMeasured = [...memory.relay, ...memory.control].every((each) => each > 0);
  return { runs, statuses, wrong, delivered, memory: isMeasured ? memory : null };
}

/** Every chat that the recordings speak of in which the bot may work: private ones and groups. */
function chatsOf(values: readonly unknown[]): string[] {
  const ids = JSON.stringify(values).matchAll(/"chat":\{[^{}]*?"id":(-?\d+)/g);
  return [...new Set([owner, ...[...ids].map((match) => match[1] ?? owner)])];
}

/** Takes every call, as Telegram does most of the time. */
async function startBotApi(): Promise<Server> {
  let messageId = 1;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      messageId += 1;
      const result = { message_id: messageId, date: 0, chat: { id: Number(owner), type: 'private' } };
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ ok: true, result }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** A workstation that takes everything and says so; returns how many rows there were. */
async function drain(url: string, token: string): Promise<number> {
  const call = async <T>(path: string, body?: object): Promise<T> => {
    const response = await fetch(url + path, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  };
  let rows = 0;
  const { mailboxes } = await call<StatusAnswer>('/v1/status');
  for (const { mailbox, epoch, projects } of mailboxes) {
    for (const { project, cursor } of projects) {
      for (let after = cursor; ; ) {
        const daemon = { id: 'daemon-of-the-fuzzer', startedAt: 1 };
        const request = { mailbox, project, epoch, after, holdMs: 0, daemon, receipts: [] };
        const answer = await call<PollAnswer>('/v1/poll', request);
        rows += answer.rows.length;
        const last = answer.rows.at(-1)?.seq;
        if (last === undefined) break;
        after = last;
      }
    }
  }
  return rows;
}
