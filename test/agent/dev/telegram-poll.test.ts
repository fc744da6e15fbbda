import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTelegramPoll, type TelegramPoll } from '../../../agent/dev/telegram-poll.ts';
import { startTelegramSim, type TelegramSim } from '../../../agent/dev/telegram-sim/sim.ts';
import { until } from '../../helpers/daemon.ts';

let sim: TelegramSim;
let relay: Server;
let received: { secret: unknown; text: unknown }[];
let statuses: number[];
let polls: TelegramPoll[];
let said: string[];

beforeEach(async () => {
  sim = await startTelegramSim();
  received = [];
  statuses = [];
  polls = [];
  said = [];
  relay = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const update = JSON.parse(Buffer.concat(chunks).toString());
    const status = statuses.shift() ?? 200;
    if (status === 200) {
      received.push({ secret: request.headers['x-telegram-bot-api-secret-token'], text: update.message?.text });
    }
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  relay.closeAllConnections();
  relay.close();
  await sim.close();
  for (const poll of polls) await poll.stop().catch(() => {});
});

async function start(changes: { token?: string; takeWebhook?: boolean } = {}): Promise<TelegramPoll> {
  const poll = await startTelegramPoll({
    token: changes.token ?? sim.token,
    apiRoot: sim.apiRoot,
    webhook: { url: `http://127.0.0.1:${(relay.address() as AddressInfo).port}/telegram/webhook`, secret: 's3cret' },
    takeWebhook: changes.takeWebhook ?? false,
    say: (line) => said.push(line),
  });
  polls.push(poll);
  return poll;
}

describe('polling the real Telegram', () => {
  it('posts each update to the webhook route in order, with its secret', async () => {
    await start();
    await sim.say('one');
    await sim.say('two');
    await until('both arrived', async () => received.length === 2);
    expect(received).toEqual([
      { secret: 's3cret', text: 'one' },
      { secret: 's3cret', text: 'two' },
    ]);
  });

  it('confirms an update to Telegram only when the relay has it', async () => {
    statuses = [503, 503];
    await start();
    await sim.say('kept');
    await until('it arrived', async () => received.length === 1);
    await until('Telegram is told', async () => sim.pendingUpdates() === 0);
    expect(received.map((each) => each.text)).toEqual(['kept']);
  });

  it('refuses while a webhook is set, and names the repair', async () => {
    sim.setWebhook('https://relay.example/telegram/webhook', 'x');
    await expect(start()).rejects.toMatchObject({
      code: 'webhook_active',
      hint: expect.stringContaining('--take-webhook'),
    });
  });

  it('removes the webhook when told to, and sets it again at the end', async () => {
    sim.setWebhook('https://relay.example/telegram/webhook', 'x');
    const poll = await start({ takeWebhook: true });
    await sim.say('while taken');
    await until('it arrived', async () => received.length === 1);
    await poll.stop();
    polls = [];
    const restored = sim.calls.findLast((call) => call.method === 'setWebhook');
    expect(restored?.params.url).toBe('https://relay.example/telegram/webhook');
    expect(said[0]).toBe('webhook at relay.example removed while dev runs');
  });

  it('ends with an error for a token that Telegram does not know', async () => {
    await expect(start({ token: '1:wrong' })).rejects.toMatchObject({ code: 'platform_unauthorized' });
  });
});
