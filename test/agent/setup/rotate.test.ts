// New secrets while messages go both ways: the real Worker at the fake Cloudflare, the simulated Telegram, the real command line and daemon.

import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTelegramSim, type TelegramSim } from '../../../agent/dev/telegram-sim/sim.ts';
import { createRelayClient } from '../../../agent/relay/client.ts';
import { openCloudflare, type Place } from '../../../agent/setup/cloudflare/client.ts';
import { deployRelay } from '../../../agent/setup/cloudflare/deploy.ts';
import { rotateAgent, rotateBot, rotateWebhook } from '../../../agent/setup/rotate.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { type FakeCloudflare, startFakeCloudflare } from '../../helpers/cloudflare/api.ts';
import { type TemporaryHome, temporaryHome } from '../../helpers/home.ts';

const dist = fileURLToPath(new URL('../../../dist', import.meta.url));
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

let fake: FakeCloudflare;
let sim: TelegramSim;
let place: Place;
let home: TemporaryHome;
let env: Record<string, string>;
let token = randomBytes(32).toString('base64url');

const relay = () => ({ url: fake.edge.url, token });
const secrets = () => fake.account.scripts.get('wa-sync')?.bindings ?? [];
const secretOf = (name: string) => secrets().find((binding) => binding.name === name)?.text;
const open = (pause: () => Promise<unknown> = () => Promise.resolve()) =>
  openCloudflare({ token: fake.account.token, baseUrl: fake.env.CLOUDFLARE_API_BASE_URL, pause });
const options = (killed = false) => ({
  cloudflare: killed ? open(() => Promise.reject(new Error('killed'))) : open(),
  place,
  relay: relay(),
});

async function status() {
  const client = createRelayClient(relay());
  const answer = await client.status();
  await client.close();
  return answer.mailboxes[0]?.projects.find(({ project }) => project === 0);
}

/** The phone says something, and the relay has it; Telegram repeats what met an instance that was just being replaced. */
async function carries(text: string): Promise<void> {
  await sim.say(text);
  await expect.poll(() => sim.pendingUpdates()).toBe(0);
  expect(fake.edge.refused()).toBe(0);
}

beforeAll(async () => {
  [fake, sim, home] = await Promise.all([startFakeCloudflare(), startTelegramSim(), temporaryHome()]);
  place = { accountId: fake.account.id, script: 'wa-sync' };
  const chat = String(sim.ownerId);
  await deployRelay(open(), {
    place,
    workerFile: join(dist, 'worker.js'),
    version: packageJson.version,
    workersDevUrl: fake.edge.url,
    secrets: {
      TELEGRAM_BOT_TOKEN: sim.token,
      TELEGRAM_WEBHOOK_SECRET: 'first-webhook-secret',
      TELEGRAM_CHAT_ID: chat,
      TELEGRAM_USER_IDS: chat,
      TELEGRAM_API_ROOT: sim.apiRoot,
      WA_AGENT_TOKEN_SHA256: sha256(token),
    },
  });
  const client = createRelayClient(relay());
  await client.rehome({});
  await client.close();
  const bindings = [{ dir: home.project, mailbox: chat }];
  await home.write('config/config.json', JSON.stringify({ hold: 'never', relay: relay(), bindings }), 0o600);
  env = {
    PATH: process.env.PATH ?? '',
    HOME: home.home,
    WA_CONFIG_DIR: join(home.root, 'config'),
    WA_STATE_DIR: join(home.root, 'state'),
    WA_RUNTIME_DIR: join(home.root, 'run'),
    CLOUDFLARE_API_TOKEN: fake.account.token,
    CLOUDFLARE_ACCOUNT_ID: fake.account.id,
    TELEGRAM_API_ROOT: sim.apiRoot,
    ...fake.env,
  };
});
afterAll(async () => {
  await Promise.all([fake.close(), sim.close()]);
  await home.close();
});

describe('the webhook secret', () => {
  it('changes while updates come, and none is refused', async () => {
    await carries('before');
    const [before] = [secretOf('TELEGRAM_WEBHOOK_SECRET')];
    await Promise.all([rotateWebhook(options()), carries('meanwhile')]);
    await carries('after');
    expect(secretOf('TELEGRAM_WEBHOOK_SECRET')).not.toBe(before);
    expect(secretOf('TELEGRAM_WEBHOOK_SECRET_NEXT')).toBeUndefined();
    expect((await status())?.ladder).toEqual({ stored: 3 });
  });

  it('completes when it was killed in each of its changes, and nothing is refused in between', async () => {
    const killedIn = async (nth: number) => {
      const killed = options(true);
      const { changeSecrets } = killed.cloudflare;
      let changes = 0;
      killed.cloudflare.changeSecrets = (...given) => {
        changes += 1;
        if (changes === nth) fake.cutNext(/secrets-bulk/);
        return changeSecrets(...given);
      };
      await expect(rotateWebhook(killed)).rejects.toThrow('killed');
      await carries(`after the kill in change ${nth}`);
    };
    await killedIn(1);
    // The second secret is there already, so this is the change of the first one, and then the removal of the second.
    await killedIn(1);
    await killedIn(2);
    await rotateWebhook(options());
    await carries('after the last run');
    expect(secretOf('TELEGRAM_WEBHOOK_SECRET_NEXT')).toBeUndefined();
  });
});

describe('the token of the bot', () => {
  it('is refused when it is of another bot', async () => {
    const other = rotateBot(options(), { token: '200000002:other', botId: '200000002' });
    await expect(other).rejects.toMatchObject({ code: 'other_bot' });
    expect(secretOf('TELEGRAM_BOT_TOKEN')).toBe(sim.token);
  });

  it('reaches the relay, which sets the webhook with it', async () => {
    sim.setWebhook('https://gone.example/', 'gone');
    await rotateBot(options(), { token: sim.token, botId: sim.botId });
    await carries('with the new token');
  });
});

describe('the agent token', () => {
  it('stays good when a run is killed before the machine has the new one', async () => {
    fake.cutNext(/secrets-bulk/);
    const none = async () => {};
    await expect(rotateAgent(options(true), none, none)).rejects.toThrow('killed');
    expect(secretOf('WA_AGENT_TOKEN_SHA256')).toContain(sha256(token));
    expect(await status()).toBeDefined();
  });

  it('changes by one command under a running daemon, and the token before is refused', async () => {
    const daemon = start('start', '--verbose');
    await daemon.line(/is running/);
    const rotated = await run('rotate', 'agent');
    expect(rotated).toMatchObject({ code: 0 });
    const { mode } = await stat(join(home.root, 'config/config.json'));
    expect(mode & 0o777).toBe(0o600);
    const config = JSON.parse(await readFile(join(home.root, 'config/config.json'), 'utf8'));
    expect(config).toMatchObject({ hold: 'never', relay: { url: fake.edge.url } });
    expect(secretOf('WA_AGENT_TOKEN_SHA256')).toBe(sha256(config.relay.token));
    await expect(status()).rejects.toMatchObject({ code: 'unauthorized' });
    const before = token;
    token = config.relay.token;

    await sim.say('with the new agent token');
    const inbox = join(home.project, '.gemini/wa_inbox.json');
    await expect.poll(() => readFile(inbox, 'utf8').catch(() => '')).toContain('with the new agent');
    const shown = await run('status');
    expect(shown.output).toContain('connected');
    for (const text of [rotated.output, shown.output, daemon.output()]) {
      expect(text).not.toContain(before);
      expect(text).not.toContain(token);
    }
    daemon.child.kill('SIGTERM');
    await once(daemon.child, 'exit');
  });
});

it('upgrades by one command, and status says when relay and daemon differ', async () => {
  const script = fake.account.scripts.get('wa-sync');
  if (script) script.code = script.code.replaceAll(`"${packageJson.version}"`, '"0.0.9"');
  await open().changeSecrets(place, { TELEGRAM_USER_IDS: String(sim.ownerId) });
  expect((await run('relay', 'status')).output).toContain('`wa-sync relay upgrade`');
  const upgraded = await run('relay', 'upgrade');
  expect(upgraded.output).toContain(`0.0.9 → ${packageJson.version}`);
  expect((await run('relay', 'status')).output).toContain(`version ${packageJson.version}`);
  expect(await status()).toBeDefined();
});

it('does nothing for a Worker that config.json does not name', async () => {
  const { code, output } = await run('rotate', 'webhook', '--script', 'another');
  expect({ code, output }).toMatchObject({ code: 1, output: expect.stringContaining('not_found') });
});

interface Program {
  child: ChildProcess;
  output(): string;
  line(match: RegExp): Promise<void>;
}

function start(...args: string[]): Program {
  const child = spawn(process.execPath, [join(dist, 'wa-sync.js'), ...args], { env, cwd: home.project });
  let output = '';
  const seen = new EventTarget();
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      seen.dispatchEvent(new Event('more'));
    });
  }
  child.stdin?.end();
  return {
    child,
    output: () => output,
    async line(match) {
      while (!match.test(output)) {
        if (child.exitCode !== null) throw new Error(`it ended: ${output}`);
        await Promise.race([once(seen, 'more'), once(child, 'exit')]);
      }
    },
  };
}

async function run(...args: string[]): Promise<{ code: number | null; output: string }> {
  const program = start(...args);
  await once(program.child, 'close');
  return { code: program.child.exitCode, output: program.output() };
}
