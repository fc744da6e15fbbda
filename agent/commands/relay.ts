// `wa-sync relay upgrade|status` and `wa-sync rotate bot|agent|webhook`: find the relay of this machine at Cloudflare and act on it. The
// order of the calls is in agent/setup/.

import { join } from 'node:path';
import { deployment } from '../../protocol/deployment.ts';
import { WaError } from '../../protocol/errors.ts';
import { isoSeconds } from '../../protocol/files.ts';
import type { Config } from '../config.ts';
import { sha256Hex } from '../crypto.ts';
import type { RelayInUse } from '../daemon/relay-move.ts';
import { askDaemon } from '../local-client.ts';
import { createRelayClient } from '../relay/client.ts';
import { openBot } from '../setup/bot.ts';
import { type Cloudflare, openCloudflare, type Place } from '../setup/cloudflare/client.ts';
import { addressOf, type DeployStep, upgradeRelay } from '../setup/cloudflare/deploy.ts';
import { changeConfig } from '../setup/config-file.ts';
import type { Prompter } from '../setup/prompter.ts';
import { cloudflareLogin } from '../setup/relay-deploy.ts';
import { rotateAgent, rotateBot, rotateWebhook } from '../setup/rotate.ts';
import { readSetup } from '../setup/state.ts';
import { version } from '../version.ts';
import type { CommandContext } from './context.ts';
import { letStdinGo, prompterFor } from './setup-prompter.ts';
import { versionNote } from './version-note.ts';

export interface RelayFlags {
  script?: string;
  account?: string;
  json?: boolean;
}

interface RelayWork {
  context: CommandContext;
  prompter: Prompter;
  cloudflare: Cloudflare;
  place: Place;
  relay: NonNullable<Config['relay']>;
}

const stepTexts: Record<DeployStep, string> = {
  inspecting: 'looking at what is there',
  subdomain: 'looking up the address',
  uploading: 'uploading',
  routing: 'making it answer',
  waiting: 'waiting until it answers',
};

/** Errors: `not_configured`, `needs_input`, those of Cloudflare and of `upgradeRelay`. */
export async function upgradeCommand(flags: RelayFlags, context: CommandContext): Promise<void> {
  await withRelay(flags, context, async ({ prompter, cloudflare, place, relay }) => {
    const before = await versionOf(relay);
    const options = {
      place,
      workerFile: join(context.distDir, 'worker.js'),
      version,
      workersDevUrl: context.env.WA_WORKERS_DEV_URL,
    };
    const { url } = await prompter.progress('Upgrading the relay', (update) =>
      upgradeRelay(cloudflare, { ...options, onStep: (step) => update(stepTexts[step]) }),
    );
    const change = before === version ? `${version}, deployed again` : `${before} → ${version}`;
    prompter.done('relay', `${change} (${url}); its secrets and messages stayed`);
  });
}

/** Errors: `not_configured`, those of the relay. */
export async function relayStatusCommand({ json }: { json?: boolean }, context: CommandContext): Promise<void> {
  const relay = relayOf(context.loadConfig());
  const client = createRelayClient(relay);
  try {
    const status = await client.status();
    if (json) {
      context.out(JSON.stringify({ url: relay.url, ...status }));
      return;
    }
    context.out(`${relay.url}, version ${status.version}`);
    if (status.version !== version) context.out(versionNote(version, status.version));
    for (const { mailbox, outbox, paused } of status.mailboxes) {
      const pause = paused ? `; sending pauses until ${isoSeconds(paused.untilAt)} (${paused.code})` : '';
      context.out(`  chat ${mailbox}: ${outbox.queued + outbox.sending} on the way to the phone${pause}`);
    }
  } finally {
    await client.close();
  }
}

export type Rotated = 'bot' | 'agent' | 'webhook';

/** Errors: `not_configured`, `needs_input`, `other_bot`, `relay_not_ready`, and those of Cloudflare, relay and platform. */
export async function rotateCommand(what: Rotated, flags: RelayFlags, context: CommandContext): Promise<void> {
  await withRelay(flags, context, (work) => rotations[what](work));
}

const rotations: Record<Rotated, (work: RelayWork) => Promise<void>> = {
  async agent(work) {
    const { context, prompter, relay } = work;
    if (relay.from !== 'config') {
      throw new WaError(
        'bad_config',
        'the agent token is in the environment (WA_AGENT_TOKEN), which wa-sync cannot change',
        {
          hint: 'Put "relay" into config.json, unset WA_RELAY_URL and WA_AGENT_TOKEN, and restart the daemon: `wa-sync restart`.',
        },
      );
    }
    const { file } = context.loadConfig();
    const keep = async (token: string) => {
      await changeConfig(file, (content) => ({ ...content, relay: { ...(content.relay as object), token } }));
    };
    await prompter.progress('Changing the agent token', () => rotateAgent(work, keep, () => tellDaemon(context)));
    prompter.done('agent', 'relay, config.json and daemon have a new token; other machines on this relay need it, too');
  },
  async webhook(work) {
    await work.prompter.progress('Changing the webhook secret', () => rotateWebhook(work));
    work.prompter.done('webhook', 'relay and Telegram have a new secret');
  },
  async bot(work) {
    const { prompter, context } = work;
    prompter.say('In @BotFather: /revoke, choose the bot, copy the new token. Waiting messages stay where they are.');
    const question = {
      need: 'botToken',
      kind: 'secret',
      ask: 'Paste the new token of the bot (nothing is shown)',
      how: 'the variable TELEGRAM_BOT_TOKEN',
    } as const;
    const bot = await prompter.ask(question, async (token) => {
      const me = await openBot(token, context.env)((api) => api.getMe());
      return { token, botId: String(me.id) };
    });
    await prompter.progress('Giving the relay the new token', () => rotateBot(work, bot));
    prompter.done('bot', 'the relay has the new token, and the webhook is set');
  },
};

/** The daemon may not run. Errors: `daemon_busy`, `relay_not_ready` for a daemon with another token. */
async function tellDaemon(context: CommandContext): Promise<void> {
  const { dirs, relay } = context.loadConfig();
  const inUse = await askDaemon(dirs, 'POST', '/relay').catch((cause) => {
    if (cause instanceof WaError && cause.code === 'daemon_not_running') return undefined;
    throw cause;
  });
  if (inUse === undefined || (inUse as RelayInUse).tokenSha256 === sha256Hex(relay?.token ?? '')) return;
  throw new WaError('relay_not_ready', 'the running daemon does not take its token from config.json', {
    hint: 'Restart it with `wa-sync restart`, then run this command again; both tokens work until then.',
  });
}

function relayOf({ relay }: Config): NonNullable<Config['relay']> {
  if (relay && relay.from !== 'local') return relay;
  throw new WaError('not_configured', relay ? 'the relay is part of the daemon here' : 'no relay is configured', {
    hint: 'A relay elsewhere is made by `wa-sync setup relay`; on this machine `wa-sync setup bot` takes a new token.',
  });
}

async function withRelay(
  flags: RelayFlags,
  context: CommandContext,
  work: (given: RelayWork) => Promise<void>,
): Promise<void> {
  const relay = relayOf(context.loadConfig());
  const { env } = context;
  const answers = { botToken: env.TELEGRAM_BOT_TOKEN?.trim(), account: flags.account };
  const prompter = await prompterFor({ json: flags.json }, answers, context);
  const login = await cloudflareLogin({ env, prompter });
  const cloudflare = openCloudflare({ token: login.token, baseUrl: env.CLOUDFLARE_API_BASE_URL });
  try {
    const place = await placeOf(flags, context, { cloudflare, prompter, accountId: login.accountId });
    const url = await addressOf(cloudflare, place, env.WA_WORKERS_DEV_URL);
    if (url !== relay.url) {
      throw new WaError(
        'bad_arguments',
        `"${place.script}" of this account is at ${url}, config.json names ${relay.url}`,
        {
          hint: 'Name the Worker with --script and its account with --account. Behind a domain of your own: docs/relay.md, by hand.',
        },
      );
    }
    await work({ context, prompter, cloudflare, place, relay });
  } finally {
    await cloudflare.close();
    letStdinGo();
  }
}

/** From flags, then from what setup did, then from the login. */
async function placeOf(
  flags: RelayFlags,
  context: CommandContext,
  { cloudflare, prompter, accountId }: { cloudflare: Cloudflare; prompter: Prompter; accountId: string | undefined },
): Promise<Place> {
  const { relay } = await readSetup(context.loadConfig().dirs.config);
  const made = relay && 'accountId' in relay ? relay : undefined;
  const script = flags.script ?? made?.script ?? deployment.script;
  const known = flags.account ?? made?.accountId ?? accountId;
  if (known !== undefined) return { script, accountId: known };
  const accounts = await cloudflare.accounts();
  const [first, ...others] = accounts;
  if (first === undefined) {
    throw new WaError('account_needed', 'the token of Cloudflare sees no account', {
      hint: 'Give the token "Account Settings: Read", or name the account with --account.',
    });
  }
  if (others.length === 0) return { script, accountId: first.id };
  const chosen = await prompter.ask({
    need: 'account',
    kind: 'choice',
    ask: 'Which Cloudflare account?',
    how: '--account',
    choices: accounts.map(({ id, name }) => ({ value: id, label: name })),
  });
  return { script, accountId: chosen };
}

async function versionOf(relay: NonNullable<Config['relay']>): Promise<string> {
  const client = createRelayClient(relay);
  try {
    return (await client.status()).version;
  } catch {
    // A relay that does not answer is a reason to upgrade it.
    return 'a version that does not answer';
  } finally {
    await client.close();
  }
}
