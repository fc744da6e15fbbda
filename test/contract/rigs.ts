// The relay's own routes over plain mailboxes, with two platforms at once: the simulated Telegram, and one of the test's own. Each rig
// is what its owner can do and what the phone shows.

import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { startTelegramSim, type TelegramSim } from '../../agent/dev/telegram-sim/sim.ts';
import { mailboxName, parseMailboxName } from '../../protocol/ids.ts';
import type { Platform, PlatformKind } from '../../worker/platform.ts';
import { type Bench, createBench } from '../worker/bench.ts';
import { createWorkshop, signature } from './workshop.ts';

// What workerd has and Node lacks.
Object.defineProperty(crypto.subtle, 'timingSafeEqual', {
  value: (a: ArrayBuffer, b: ArrayBuffer) => timingSafeEqual(new Uint8Array(a), new Uint8Array(b)),
});

/** Compiled with the types of workerd, which those of Node do not go with. */
const worker = (name: string) => import(/* @vite-ignore */ new URL(`../../worker/${name}.ts`, import.meta.url).href);
const { createApp } = (await worker('app')) as {
  createApp(kinds: readonly PlatformKind[]): { fetch(request: Request, env: object): Promise<Response> };
};
const { connectAll, platformKinds, platformNamed } = (await worker('platforms')) as {
  connectAll(kinds: readonly PlatformKind[], variables: object): Platform[];
  platformKinds: readonly PlatformKind[];
  platformNamed(platforms: readonly Platform[], account: string): Platform;
};

export interface Rig {
  readonly mailbox: string;
  readonly bench: Bench;
  /** The platform's id of what was said. */
  say(text: string, file?: string): Promise<string>;
  /** Several at once, in as few updates as the platform makes of them; `times` the same updates. */
  sayAll(texts: readonly string[], times: number): Promise<void>;
  edit(ref: string, text: string): Promise<void>;
  tap(label: string): Promise<void>;
  /** One update of the owner's with a wrong secret; gives the status. */
  forge(): Promise<number>;
  shown(): { ref: string; text: string; buttons: string[] }[];
  limitNext(seconds: number): void;
  refuseNext(): void;
  /** Undefined = the platform tells nothing after its answer. */
  report?(ref: string, bad?: { code: string; why: string }): Promise<void>;
}

export interface Rigs {
  readonly url: string;
  call<T>(method: 'GET' | 'POST', path: string, body?: object): Promise<{ status: number; body: T }>;
  readonly sim: TelegramSim;
  readonly telegram: Rig;
  readonly workshop: Rig;
  close(): Promise<void>;
}

export const secret = 'webhook-secret';
export const nextSecret = 'next-webhook-secret';
const token = 'agent-token';

export async function startRigs(): Promise<Rigs> {
  const sim = await startTelegramSim({ botId: 100_000_001 });
  const workshop = createWorkshop();
  const kinds = [...platformKinds, workshop];
  const variables = {
    TELEGRAM_BOT_TOKEN: sim.token,
    TELEGRAM_CHAT_ID: String(sim.ownerId),
    TELEGRAM_WEBHOOK_SECRET: secret,
    TELEGRAM_WEBHOOK_SECRET_NEXT: nextSecret,
    TELEGRAM_API_ROOT: sim.apiRoot,
    WORKSHOP_ROOMS: 'room-7,hall',
    WORKSHOP_SECRET: secret,
    WA_AGENT_TOKEN_SHA256: createHash('sha256').update(token).digest('hex'),
  };
  const platforms = connectAll(kinds, variables);
  const benches = new Map<string, Bench>();
  const benchOf = (name: string): Bench => {
    const { account, chatId } = parseMailboxName(name) ?? { account: '', chatId: '' };
    const bench = benches.get(name) ?? createBench({ platform: platformNamed(platforms, account), chatId });
    benches.set(name, bench);
    return bench;
  };
  const MAILBOX = { getByName: (name: string) => stubOf(benchOf(name)) };
  const env = { ...variables, MAILBOX };
  const app = createApp(kinds);
  const server = createServer(getRequestListener((request) => app.fetch(request, env)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  sim.setWebhook(`${url}/telegram/webhook`, secret);

  const post = (path: string, body: string, headers: Record<string, string>) =>
    fetch(url + path, { method: 'POST', body, headers }).then(async (response) => {
      await response.arrayBuffer();
      return response.status;
    });
  let last = 0;
  const next = () => {
    last += 1;
    return `c${last}`;
  };
  const change = (...changes: object[]) => {
    const body = JSON.stringify({ changes });
    return post('/workshop/changes', body, { 'x-signature': signature(secret, body) });
  };
  const room = 'room-7';
  const by = 'ann';
  const chat = { id: sim.ownerId, type: 'private' };
  const from = { id: sim.ownerId, is_bot: false, first_name: 'Owner' };
  const update = (id: number, text: string) =>
    JSON.stringify({ update_id: id, message: { message_id: id, date: 1_790_000_000, chat, from, text } });
  const telegramHeader = { 'x-telegram-bot-api-secret-token': secret };
  const benchNamed = (account: string, chatId: string) => benchOf(mailboxName(account, chatId));

  return {
    url,
    sim,
    async call(method, path, body) {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
      const answer: unknown = await response.json();
      return { status: response.status, body: answer as never };
    },
    telegram: {
      mailbox: String(sim.ownerId),
      bench: benchNamed(sim.botId, String(sim.ownerId)),
      async say(text, file) {
        const data = Buffer.from(file ?? '');
        const given = file === undefined ? {} : { file: { fileName: 'a.txt', contentType: 'text/plain', data } };
        return String(await sim.say(text, given));
      },
      async sayAll(texts, times) {
        for (let time = 0; time < times; time += 1) {
          for (const [index, text] of texts.entries()) {
            await post('/telegram/webhook', update(7_000_000 + index, text), telegramHeader);
          }
        }
      },
      edit: (ref, text) => sim.edit(Number(ref), text),
      async tap(label) {
        const withButton = sim
          .messages()
          .findLast(({ buttons }) => buttons.flat().some((each) => each.label === label));
        await sim.press(withButton?.messageId ?? 0, label);
      },
      forge: () =>
        post('/telegram/webhook', update(1, 'forged'), { 'x-telegram-bot-api-secret-token': 'wrong-secret!!' }),
      shown: () =>
        sim
          .messages()
          .filter((message) => message.from === 'bot')
          .map(({ messageId, text, buttons }) => ({
            ref: String(messageId),
            text,
            buttons: buttons.flat().map((each) => each.label),
          })),
      limitNext: (seconds) => sim.failNext({ status: 429, headers: { 'Retry-After': String(seconds) } }),
      refuseNext: () => sim.failNext({ status: 403 }),
    },
    workshop: {
      mailbox: room,
      bench: benchNamed('bench-2', room),
      async say(text, file) {
        const of = next();
        if (file !== undefined) workshop.files.set(`f-${of}`, file);
        const attached = file === undefined ? {} : { file: { id: `f-${of}`, name: 'a.txt' } };
        await change({ is: 'text', id: next(), room, by, of, text, ...attached });
        return of;
      },
      async sayAll(texts, times) {
        const changes = texts.map((text) => ({ is: 'text', id: next(), room, by, of: next(), text }));
        for (let time = 0; time < times; time += 1) await change(...changes);
      },
      async edit(of, text) {
        await change({ is: 'edit', id: next(), room, by, of, text });
      },
      async tap(label) {
        const buttons = workshop.shown.flatMap((message) => message.buttons);
        await change({ is: 'tap', id: next(), room, by, on: buttons.findLast((each) => each.label === label)?.id });
      },
      forge() {
        const body = JSON.stringify({ changes: [{ is: 'text', id: next(), room, by, of: next(), text: 'forged' }] });
        return post('/workshop/changes', body, { 'x-signature': signature('another secret', body) });
      },
      shown: () =>
        workshop.shown.map(({ ref, text, buttons }) => ({ ref, text, buttons: buttons.map((b) => b.label) })),
      limitNext: (seconds) =>
        workshop.script.push({ kind: 'pause', afterMs: seconds * 1000, code: 'rate_limited', reason: 'slow down' }),
      refuseNext: () => workshop.script.push({ kind: 'dead', code: 'chat_unreachable', reason: 'the room is closed' }),
      async report(of, bad) {
        await change({ is: 'status', id: next(), room, of, ...(bad ? { bad } : {}) });
      },
    },
    async close() {
      await sim.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The object's call, which gives what happened as data. */
function stubOf({ logic }: Bench) {
  return {
    async call(name: 'accept' | 'post' | 'findFile' | 'deadLetters' | 'status' | 'resume', args: unknown[]) {
      return { ok: true, value: (logic[name] as (...given: unknown[]) => unknown)(...args) };
    },
  };
}
