// The bot and its pairing against the simulated Telegram: what setup refuses, and what it leaves alone.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startTelegramSim, type TelegramSim } from '../../../agent/dev/telegram-sim/sim.ts';
import { setUpBot } from '../../../agent/setup/bot.ts';
import { pair } from '../../../agent/setup/pairing.ts';
import { flagPrompter } from '../../../agent/setup/prompt-plain.ts';
import type { SetupState } from '../../../agent/setup/state.ts';
import type { SetupOptions, SetupWorld } from '../../../agent/setup/world.ts';
import { until } from '../../helpers/daemon.ts';
import { temporaryFolder, testClock } from '../../helpers/surroundings.ts';

const group = -1_001_000_000_001;
let sim: TelegramSim;
beforeEach(async () => {
  sim = await startTelegramSim({ groups: [{ id: group, title: 'Team' }], retryDelayMs: () => 20 });
});
afterEach(() => sim.close());

function worldOf({
  token = sim.token,
  state = {} as SetupState,
  ...more
}: Partial<SetupOptions> & { token?: string; state?: SetupState } = {}) {
  const printed: string[] = [];
  const { now, advance } = testClock();
  const options: SetupOptions = {
    waits: true,
    takesWebhook: false,
    group: false,
    relay: undefined,
    script: undefined,
    service: false,
    topic: undefined,
    ...more,
  };
  const prompter = flagPrompter({
    answers: { botToken: token },
    takesFallback: true,
    out: (line) => void printed.push(line),
  });
  const world: SetupWorld = {
    env: { TELEGRAM_API_ROOT: sim.apiRoot },
    platform: process.platform,
    home: '/nowhere',
    cwd: '/nowhere',
    distDir: '/nowhere',
    options,
    prompter,
    state,
    save: async () => {},
    clock: now,
    signal: new AbortController().signal,
  };
  return { world, printed, advance };
}
const place = async () => ({
  configDir: await temporaryFolder(),
  rehome: async () => false,
  machine: { stopPolling: async () => false, startDaemon: async () => {} },
});
const codeIn = (printed: string[]) => until('a link', () => /\?start(?:group)?=([\w-]+)/.exec(printed.join('\n'))?.[1]);

it.each([
  ['is no token', 'hello', 'bad_arguments'],
  ['Telegram does not know', '100000001:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', 'platform_unauthorized'],
])('a token that %s is refused, and not repeated', async (_, token, code) => {
  const error = await setUpBot(worldOf({ token }).world).catch((cause) => cause);
  expect(error).toMatchObject({ code });
  expect(`${error.message} ${error.hint}`).not.toContain(token);
});

it('Telegram is reached through the proxy of the environment', async () => {
  const tunnels: string[] = [];
  const proxy = createServer().on('connect', (request, socket) => {
    tunnels.push(request.url ?? '');
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  vi.stubEnv('HTTPS_PROXY', `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  vi.stubEnv('NO_PROXY', '');
  try {
    const { world } = worldOf();
    world.env.TELEGRAM_API_ROOT = 'https://api.telegram.example';
    await expect(setUpBot(world)).rejects.toMatchObject({
      code: 'platform_unreachable',
      hint: expect.stringContaining('HTTPS_PROXY'),
    });
    expect(tunnels).toEqual(['api.telegram.example:443']);
  } finally {
    vi.unstubAllEnvs();
    proxy.closeAllConnections();
    proxy.close();
  }
});

it('one tap gives chat and user, and messages that wait are left to the relay', async () => {
  const { world, printed } = worldOf();
  await setUpBot(world);
  await sim.say('written before');
  const paired = pair(world, await place());
  await sim.say(`/start ${await codeIn(printed)}`);
  await paired;
  expect(world.state.chat).toEqual({ id: String(sim.ownerId), userId: String(sim.ownerId), title: 'Owner' });
  expect(world.state.pairing).toBeUndefined();
  expect(sim.pendingUpdates()).toBe(2);
});

it('pairs with a group by its own link, and says what privacy mode means there', async () => {
  const { world, printed } = worldOf({ group: true });
  await setUpBot(world);
  const paired = pair(world, await place());
  const code = await codeIn(printed);
  await sim.say(`/start@wa_sync_bot ${code}`, { chatId: group });
  await paired;
  expect(world.state.chat).toEqual({ id: String(group), userId: String(sim.ownerId), title: 'Team' });
  expect(printed.join('\n')).toMatch(/startgroup=[\s\S]*\/setprivacy/);
});

it('a code is the same for a run that goes on, and another one once ten minutes are over', async () => {
  const { world, printed, advance } = worldOf({ waits: false });
  await setUpBot(world);
  const look = async () => {
    await expect(pair(world, await place())).rejects.toMatchObject({ code: 'needs_input' });
    return codeIn(printed.splice(0));
  };
  const first = await look();
  expect(await look()).toBe(first);
  advance(10 * 60_000);
  expect(await look()).not.toBe(first);
  expect(Buffer.from(first, 'base64url').length * 8).toBeGreaterThanOrEqual(128);
});

it('leaves the webhook of another program alone, unless it is told to take it', async () => {
  sim.setWebhook('http://127.0.0.1:9/other', 'x');
  const refused = worldOf().world;
  await setUpBot(refused);
  await expect(pair(refused, await place())).rejects.toMatchObject({
    code: 'webhook_active',
    hint: expect.stringContaining('--take-webhook'),
  });
  expect(sim.calls.some(({ method }) => method === 'deleteWebhook')).toBe(false);
  const { world } = worldOf({ takesWebhook: true, waits: false });
  await setUpBot(world);
  await expect(pair(world, await place())).rejects.toMatchObject({ code: 'needs_input' });
  expect(sim.calls.filter(({ method }) => method === 'deleteWebhook')).toMatchObject([
    { params: { drop_pending_updates: false } },
  ]);
});

it('takes the webhook of our own relay for the pairing, and has the relay put it back when nobody taps', async () => {
  sim.setWebhook('http://127.0.0.1:9/telegram/webhook', 'x');
  const { world } = worldOf({
    waits: false,
    state: { relay: { kind: 'account', url: 'http://127.0.0.1:9', accountId: 'a', script: 'wa-sync' } },
  });
  await setUpBot(world);
  let rehomed = 0;
  const rehome = async () => ++rehomed > 0;
  await expect(pair(world, { ...(await place()), rehome })).rejects.toMatchObject({
    code: 'needs_input',
  });
  expect(rehomed).toBe(1);
});
