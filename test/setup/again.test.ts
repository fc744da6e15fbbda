// Setup that is run again, killed, moved, and taken back.

import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../helpers/daemon.ts';
import type { Machine } from './installed.ts';
import { eachTest } from './scene.ts';
import { relays, type Scene, ways } from './ways.ts';

let scene: Scene;
eachTest((given) => {
  scene = given;
});

const byFlags = (relay: (typeof relays)[number]) => ways['by flags']?.(scene, relay);
const setupFile = ({ configDir }: Machine) => {
  try {
    return readFileSync(join(configDir, 'setup.json'), 'utf8');
  } catch {
    return '';
  }
};

/** A port whose connections go on to another one. */
async function forwardTo(target: number): Promise<{ port: number; close(): Promise<void> }> {
  const open = new Set<Socket>();
  const server = createServer((incoming) => {
    const outgoing = connect(target, '127.0.0.1');
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      open.add(from);
      from.on('error', () => to.destroy()).on('close', () => to.destroy());
      from.pipe(to);
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Path and content of what setup writes. */
function written({ configDir, home }: Machine): Record<string, string> {
  const roots = [configDir, join(home, '.gemini'), join(home, '.local', 'share')];
  const files = roots.flatMap((root) =>
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  return Object.fromEntries(files.map((path) => [path, readFileSync(path, 'latin1')]));
}

it.each(relays)('a second run changes nothing and asks for nothing, with the relay: %s', async (relay) => {
  const { machine, sim, cloudflare } = scene;
  expect(await byFlags(relay)).toMatchObject({ code: 0 });
  const before = { files: written(machine), pid: await machine.daemonPid(), deployed: cloudflare.calls.length };
  const webhooks = () => sim.calls.filter(({ method }) => method === 'setWebhook').length;
  const webhooksBefore = webhooks();
  expect(await machine.run(['setup', '--yes', '--no-service'], { input: '' }).ended).toMatchObject({ code: 0 });
  const after = { files: written(machine), pid: await machine.daemonPid(), deployed: cloudflare.calls.length };
  expect(after).toEqual(before);
  expect(webhooks()).toBe(webhooksBefore);
});

it.each(relays)(
  'a setup that is killed after each of its writes that is seen completes, with the relay: %s',
  async (relay) => {
    const { machine, sim, phone, cloudflare } = scene;
    const flags = {
      local: ['--local'],
      temporary: ['--temporary', '--accept-cloudflare-terms'],
      account: ['--cloudflare'],
    };
    const env = {
      TELEGRAM_BOT_TOKEN: sim.token,
      ...(relay === 'account' ? { CLOUDFLARE_API_TOKEN: cloudflare.account.token } : {}),
    };
    let kills = 0;
    let isPaired = false;
    let isGreeted = false;
    for (;;) {
      const before = setupFile(machine);
      const run = machine.run(['setup', '--yes', ...flags[relay], '--no-service'], { env, input: '' });
      let end: { code: number } | undefined;
      void run.ended.then((value) => {
        end = value;
      });
      await until(
        'the run writes, needs the phone, or ends',
        async () => {
          if (end || setupFile(machine) !== before) return true;
          if (!isPaired && /\?start=/.test(run.printed())) {
            isPaired = true;
            await phone.tapStart(run.printed);
          }
          if (!isGreeted && /tap the button/.test(run.printed())) {
            isGreeted = true;
            await phone.tapHello();
          }
          return false;
        },
        60_000,
      );
      if (end !== undefined) {
        expect(await run.ended).toMatchObject({ code: 0 });
        break;
      }
      run.child.kill('SIGKILL');
      await run.ended;
      kills += 1;
    }
    // Writes that follow each other at once are seen as one: how many there are is the machine's matter.
    expect(kills).toBeGreaterThan(3);
    expect(cloudflare.temporaryAccounts().length).toBe(relay === 'temporary' ? 1 : 0);
  },
);

it('a program without a pipe learns from exit code 4 what is needed next, and goes on when it is given', async () => {
  const { machine, sim, phone } = scene;
  const step = async (env: Record<string, string> = {}) => {
    const { code, printed } = await machine.run(['setup', '--json', '--local', '--no-service', '--no-wait'], {
      env,
      input: '',
    }).ended;
    const needs = printed
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
      .flatMap(({ need }) => need ?? []);
    return { code, needs, printed };
  };
  expect(await step()).toMatchObject({ code: 4, needs: ['botToken'] });
  const open = await step({ TELEGRAM_BOT_TOKEN: sim.token });
  expect(open).toMatchObject({ code: 4, needs: ['tap'] });
  await phone.tapStart(() => open.printed);
  expect(await step()).toMatchObject({ code: 4, needs: ['hello'] });
  await phone.tapHello();
  await until('the tap has come back', async () => (await step()).code === 0);
});

describe('pairing again beside a daemon that asks Telegram itself', () => {
  const begin = async () => {
    expect(await byFlags('local')).toMatchObject({ code: 0 });
    const before = await scene.machine.daemonPid();
    return { before, run: scene.machine.run(['setup', 'pair', '--yes', '--no-service'], { input: '' }) };
  };

  it('stops the daemon, and starts the daemon again once the phone is paired', async () => {
    const { before, run } = await begin();
    await scene.phone.tapStart(run.printed);
    expect(await run.ended).toMatchObject({ code: 0, printed: expect.stringContaining('The daemon is stopped until') });
    expect(await scene.machine.daemonPid()).not.toBe(before);
    const id = await scene.sim.say('after it');
    await until('the daemon has taken the message', () =>
      readFileSync(join(scene.machine.project, '.gemini', 'wa_inbox.json'), 'utf8').includes('after it'),
    );
    expect(id).toBeGreaterThan(0);
  });

  it('starts the daemon again when the pairing is given up', async () => {
    const { before, run } = await begin();
    await until('a link is shown', () => /\?start=/.test(run.printed()));
    expect(await scene.machine.daemonPid()).toBeUndefined();
    run.child.kill('SIGINT');
    expect(await run.ended).toMatchObject({ code: 130 });
    const after = await scene.machine.daemonPid();
    expect(after).toEqual(expect.any(Number));
    expect(after).not.toBe(before);
  });
});

it('Ctrl+C at a prompt ends setup cleanly, and the next run goes on', async () => {
  const { installed, machine } = scene;
  const { startTerminal } = await import('./terminal.ts');
  const terminal = await startTerminal(machine, installed.program, ['setup', '--local', '--no-service']);
  try {
    await terminal.shows(/Paste the token/);
    await terminal.key('C-c');
    expect(await terminal.ended()).toMatchObject({
      code: 130,
      screen: expect.stringContaining('Go on with `wa-sync setup`'),
    });
  } finally {
    await terminal.close();
  }
});

describe('a second project', () => {
  const inSecond = async ({ machine }: Scene, folder: string) => {
    const dir = join(machine.home, folder);
    await mkdir(dir, { recursive: true });
    const run = (args: string[] = []) =>
      machine.run(['setup', '--yes', '--no-service', ...args], { input: '', cwd: dir }).ended;
    return { dir, run };
  };
  const bindingsOf = ({ configDir }: Machine) =>
    JSON.parse(readFileSync(join(configDir, 'config.json'), 'utf8')).bindings;

  it.each(['local', 'account'] as const)(
    'is told what to turn on in a chat without topics, and then gets a topic of its own, with the relay: %s',
    async (relay) => {
      const { machine, sim } = scene;
      expect(await byFlags(relay)).toMatchObject({ code: 0 });
      const { dir, run } = await inSecond(scene, 'second');
      expect(await run()).toMatchObject({
        code: 1,
        printed: expect.stringMatching(
          /the chat already serves .*project.*\n.*turn on topics.*@BotFather.*--topic NUMBER/,
        ),
      });
      expect(bindingsOf(machine)).toHaveLength(1);
      sim.allowPrivateTopics();
      expect(await run()).toMatchObject({ code: 0 });
      const made = sim.calls.filter(({ method }) => method === 'createForumTopic');
      expect(made.at(-1)?.params.name).toBe('second');
      const [, binding] = bindingsOf(machine);
      expect(binding).toMatchObject({ dir, project: expect.any(Number) });
      await sim.say('hello there', { threadId: binding.project });
      await until('the message is in the mailbox of the folder', () =>
        existsSync(join(dir, '.gemini', 'wa_inbox.json')),
      );
      expect(await run()).toMatchObject({ code: 0 });
      expect(sim.calls.filter(({ method }) => method === 'createForumTopic')).toHaveLength(made.length);
    },
  );

  it('takes a topic that exists, unless another folder has it', async () => {
    const { machine } = scene;
    expect(await byFlags('local')).toMatchObject({ code: 0 });
    const second = await inSecond(scene, 'second');
    expect(await second.run(['--topic', '12'])).toMatchObject({ code: 0 });
    const third = await inSecond(scene, 'third');
    expect(await third.run(['--topic', '12'])).toMatchObject({
      code: 2,
      printed: expect.stringMatching(/topic 12 already serves .*second/),
    });
    expect(bindingsOf(machine)).toMatchObject([
      { dir: machine.project, project: 0 },
      { dir: second.dir, project: 12 },
    ]);
  });
});

it('a claimed account moves daemon and webhook to its new address', async () => {
  const { machine, sim, cloudflare } = scene;
  expect(await byFlags('temporary')).toMatchObject({ code: 0 });
  const status = await machine.run(['status'], { input: '' }).ended;
  expect(status.printed).toMatch(/account {5}temporary, ends in \d+ min; .*https?:/);
  // Another address of the same relay.
  const { port, close } = await forwardTo(Number(new URL(cloudflare.edge.url).port));
  onTestFinished(close);
  const moved = `http://127.0.0.1:${port}`;
  expect(await machine.run(['setup', '--claimed', moved, '--yes'], { input: '' }).ended).toMatchObject({
    code: 0,
    printed: expect.stringContaining(moved),
  });
  const { relay } = JSON.parse(readFileSync(join(machine.configDir, 'config.json'), 'utf8'));
  expect(relay.url).toBe(moved);
  expect(sim.calls.filter(({ method }) => method === 'setWebhook').at(-1)?.params.url).toBe(
    `${moved}/telegram/webhook`,
  );
  expect((await machine.run(['status'], { input: '' }).ended).printed).not.toContain('temporary');
});

it('uninstall takes back hooks, daemon, webhook and relay, says what stays, and --purge leaves no file of ours', async () => {
  const { machine, sim, cloudflare } = scene;
  expect(await byFlags('account')).toMatchObject({ code: 0 });
  const env = { TELEGRAM_BOT_TOKEN: sim.token, CLOUDFLARE_API_TOKEN: cloudflare.account.token };
  const flags = ['--remove-webhook', '--remove-relay', '--purge', '--yes'];
  const { code, printed } = await machine.run(['uninstall', ...flags], { env, input: '' }).ended;
  expect({ code, printed }).toMatchObject({
    code: 0,
    printed: expect.stringMatching(/@wa_sync_bot stays: @BotFather/),
  });
  expect(cloudflare.account.scripts.size).toBe(0);
  expect(sim.calls.some(({ method }) => method === 'deleteWebhook')).toBe(true);
  expect(await machine.daemonPid()).toBeUndefined();
  const left = readdirSync(machine.home, { recursive: true, encoding: 'utf8' }).filter((name) => /wa-sync/.test(name));
  expect(left).toEqual([]);
});
