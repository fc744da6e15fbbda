// The relay: chosen by what is there, deployed or only addressed. It knows bot, chat and users from its first moment, since pairing came
// before.

import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { deployment } from '../../protocol/deployment.ts';
import { WaError } from '../../protocol/errors.ts';
import { writeBotFile } from '../dev/local-bot.ts';
import { createRelayClient } from '../relay/client.ts';
import { version } from '../version.ts';
import { botToken, freeWebhook, openBot } from './bot.ts';
import { type Cloudflare, openCloudflare, type Place } from './cloudflare/client.ts';
import { deployRelay, type RelaySecrets } from './cloudflare/deploy.ts';
import { findLogin, type Login, tokenPage } from './cloudflare/login.ts';
import { cloudflareTerms, createTemporaryAccount, isExpired } from './cloudflare/temporary.ts';
import type { Question } from './prompter.ts';
import type { RelayRecord, SetupState } from './state.ts';
import { apiRootOf, defaultApiRoot, type SetupOptions, type SetupWorld } from './world.ts';

type Kind = RelayRecord['kind'];

/** What a relay is deployed for: another bot, chat or user = deploy again. */
export function inputsOf({ bot, chat, relay }: SetupState): string {
  if (relay?.kind === 'url') return `url ${relay.url}`;
  return `${relay?.kind} ${bot?.id}:${chat?.id}:${chat?.userId}`;
}

/** Errors: `needs_input`, `cancelled`, and those of Cloudflare, of the relay, of the Bot API. */
export async function setUpRelay(world: SetupWorld, place: RelayPlace): Promise<void> {
  const kind = await chosenKind(world);
  await kinds[kind](world, place);
  const { state, save } = world;
  state.done = { ...state.done, relay: inputsOf(state) };
  await save();
}

export interface RelayPlace {
  configDir: string;
  /** Of config.json, when it is for the relay of `state.relay`. */
  agentToken: string | undefined;
}

const kinds: Record<Kind, (world: SetupWorld, place: RelayPlace) => Promise<void>> = {
  local: useLocal,
  url: useExisting,
  account: deployToAccount,
  temporary: deployToTemporary,
};

async function chosenKind(world: SetupWorld): Promise<Kind> {
  const { options, state, prompter, env, clock } = world;
  if (options.relay) return options.relay.kind;
  const before = state.relay;
  if (before && !(before.kind === 'temporary' && isExpired(before, clock()))) return before.kind;
  const login = await findLogin({ env });
  const question: Question = {
    need: 'relay',
    kind: 'choice',
    ask: 'Where shall the relay run, which takes your messages while this machine sleeps?',
    how: '--temporary, --local, --relay URL, or a Cloudflare login',
    choices: [
      ...(login ? [{ value: 'account', label: 'In your Cloudflare account', hint: `login: ${login.source}` }] : []),
      {
        value: 'temporary',
        label: 'In a temporary Cloudflare account',
        hint: 'no login; lasts an hour unless you claim it',
      },
      ...(login ? [] : [{ value: 'account', label: 'In your Cloudflare account', hint: 'needs an API token' }]),
      {
        value: 'local',
        label: 'Only on this machine',
        hint: 'no account; messages wait at Telegram for at most 24 hours',
      },
      { value: 'url', label: 'A relay that I have already', hint: 'needs its address and its agent token' },
    ],
    ...(login ? { fallback: 'account' } : {}),
  };
  return prompter.ask(question, (answer) => answer as Kind);
}

async function useLocal(world: SetupWorld, { configDir }: RelayPlace): Promise<void> {
  const { env, state, save, prompter } = world;
  const token = await botToken(world, configDir);
  await freeWebhook(openBot(token, env), world);
  const { id = '', userId = '' } = state.chat ?? {};
  await writeBotFile(configDir, { token, apiRoot: apiRootOf(env), chatId: id, userIds: userId });
  state.relay = { kind: 'local' };
  await save();
  prompter.done('relay', 'on this machine');
  prompter.say(
    'No relay elsewhere: while this machine sleeps, messages wait at Telegram for at most 24 hours, and nothing tells the phone that the machine is away. `wa-sync setup relay` adds one later.',
  );
}

async function useExisting(world: SetupWorld, { agentToken }: RelayPlace): Promise<void> {
  const { options, prompter, state, save } = world;
  const url = await existingUrl(options, world);
  const secret: Question = {
    need: 'agentToken',
    kind: 'secret',
    ask: `Paste the agent token of ${url} (nothing is shown)`,
    how: 'the variable WA_AGENT_TOKEN',
  };
  const check = async (token: string) => {
    const client = createRelayClient({ url, token });
    try {
      return { token, status: await client.status() };
    } catch (cause) {
      throw isUnauthorized(cause) ? unknownToken(url, cause) : cause;
    } finally {
      await client.close();
    }
  };
  const isKnown = state.relay?.kind === 'url' && state.relay.url === url && agentToken !== undefined;
  // Another machine may have rotated it.
  const known = isKnown ? await check(agentToken).catch(unlessUnauthorized) : undefined;
  const { token, status } = known ?? (await prompter.ask(secret, check));
  const chats = status.mailboxes.map(({ mailbox }) => mailbox);
  const chat = await theOnly('chat', 'Which chat shall this machine serve?', '--chat ID', chats, world);
  state.relay = { kind: 'url', url };
  state.chat = { id: chat, userId: state.chat?.id === chat ? state.chat.userId : '', title: `chat ${chat}` };
  state.secrets = { ...state.secrets, agentToken: token };
  await save();
  prompter.done('relay', `${url}, version ${status.version}`);
}

function isUnauthorized(cause: unknown): cause is WaError {
  return cause instanceof WaError && cause.code === 'unauthorized';
}

function unlessUnauthorized(cause: unknown): undefined {
  if (!isUnauthorized(cause)) throw cause;
}

function unknownToken(url: string, cause: WaError): WaError {
  return new WaError('unauthorized', `the relay at ${url} does not know this agent token`, {
    hint: 'Give the token that a machine of this relay has in config.json as relay.token, by the variable WA_AGENT_TOKEN. Is it lost? Where the relay was set up: `wa-sync rotate agent`.',
    cause,
  });
}

async function existingUrl({ relay }: SetupOptions, { prompter, state }: SetupWorld): Promise<string> {
  const url = relay?.kind === 'url' ? relay.url : state.relay?.kind === 'url' ? state.relay.url : undefined;
  const question: Question = { need: 'relayUrl', kind: 'text', ask: 'The address of the relay', how: '--relay URL' };
  return url === undefined ? prompter.ask(question, relayUrl) : relayUrl(url);
}

/** Without a trailing slash. Errors: `bad_arguments`. */
export function relayUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLoopback = url?.protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname);
  if (url && !url.username && !url.password && (url.protocol === 'https:' || isLoopback)) {
    return url.href.replace(/(?<!\/)\/+$/, '');
  }
  throw new WaError('bad_arguments', 'the address of a relay is https, without a user or password', {
    hint: 'For example https://wa-sync.<name>.workers.dev.',
  });
}

async function deployToAccount(world: SetupWorld, place: RelayPlace): Promise<void> {
  const login = await cloudflareLogin(world);
  const cloudflare = openCloudflare({ token: login.token, baseUrl: world.env.CLOUDFLARE_API_BASE_URL });
  let accountId = login.accountId ?? (world.state.relay?.kind === 'account' ? world.state.relay.accountId : undefined);
  try {
    if (accountId === undefined) {
      const accounts = await cloudflare.accounts();
      const names = accounts.map(({ id, name }) => ({ value: id, label: name }));
      accountId = await theOnly('account', 'Which Cloudflare account?', 'CLOUDFLARE_ACCOUNT_ID', names, world);
    }
    const { script, url } = await deploy(world, place, cloudflare, accountId);
    world.state.relay = { kind: 'account', url, accountId, script };
    world.prompter.done('relay', url);
  } finally {
    await cloudflare.close();
  }
}

/** Errors: `needs_input`, and those of `findLogin`. */
export async function cloudflareLogin({ env, prompter }: Pick<SetupWorld, 'env' | 'prompter'>): Promise<Login> {
  const found = await findLogin({ env });
  if (found) return found;
  prompter.link('Make an API token (template "Edit Cloudflare Workers")', tokenPage);
  const question: Question = {
    need: 'cloudflareToken',
    kind: 'secret',
    ask: 'Paste the API token of Cloudflare (nothing is shown)',
    how: 'the variable CLOUDFLARE_API_TOKEN',
  };
  const login = await prompter.ask(question, (pasted) => findLogin({ env, pasted }));
  if (login) return login;
  throw new WaError('needs_input', 'there is no login at Cloudflare', { hint: 'Set CLOUDFLARE_API_TOKEN.' });
}

async function deployToTemporary(world: SetupWorld, place: RelayPlace): Promise<void> {
  const { state, save, prompter, clock } = world;
  let account = state.secrets?.account;
  if (!account || isExpired(account, clock())) account = await newAccount(world);
  const cloudflare = openCloudflare({ token: account.token, baseUrl: world.env.CLOUDFLARE_API_BASE_URL });
  try {
    const { script, url } = await deploy(world, place, cloudflare, account.accountId);
    const { accountId, expiresAt, claimUrl } = account;
    state.relay = { kind: 'temporary', url, accountId, script, expiresAt, claimUrl };
    await save();
  } finally {
    await cloudflare.close();
  }
  const minutes = Math.max(0, Math.round((account.expiresAt - clock()) / 60_000));
  prompter.done('relay', state.relay.url);
  prompter.say(
    `The account ends in ${minutes} minutes, and the relay with it, unless you claim it: open the link, log in or sign up at Cloudflare. Then run \`wa-sync setup --claimed\`. \`wa-sync status\` shows the link again.`,
  );
  prompter.link('Claim the account', account.claimUrl);
}

async function newAccount({ env, options, prompter, signal, state, save }: SetupWorld) {
  const { termsOfService, privacyPolicy } = cloudflareTerms;
  const question: Question = {
    need: 'acceptCloudflareTerms',
    kind: 'yes',
    ask: `Do you accept the terms of Cloudflare (${termsOfService}) and its privacy policy (${privacyPolicy})?`,
    how: '--accept-cloudflare-terms, after a person has read them',
  };
  const acceptsTerms = (await prompter.ask(question)) === 'yes';
  const made = await prompter.progress('Making a temporary account', (update) =>
    createTemporaryAccount({
      acceptsTerms,
      baseUrl: env.CLOUDFLARE_API_BASE_URL,
      onProgress: (share) => update(`${Math.floor(share * 100)} %`),
      signal,
    }),
  );
  const { id: accountId, token, expiresAt, claimUrl } = made;
  const account = { accountId, token, expiresAt, claimUrl, script: options.script ?? deployment.script };
  state.secrets = { ...state.secrets, account };
  await save();
  return account;
}

/** Makes the secrets of the relay, keeps them, and uploads. */
async function deploy(
  world: SetupWorld,
  { configDir, agentToken }: RelayPlace,
  cloudflare: Cloudflare,
  accountId: string,
): Promise<{ script: string; url: string }> {
  const { env, distDir, options, prompter, signal, state, save } = world;
  const before = state.relay && 'script' in state.relay ? state.relay.script : undefined;
  const script = options.script ?? before ?? deployment.script;
  const isOurs = state.secrets?.agentToken !== undefined || agentToken !== undefined;
  if (!isOurs) await askToReplace(world, cloudflare, { accountId, script });
  const bot = await botToken(world, configDir);
  const webhookSecret = state.secrets?.webhookSecret ?? randomBytes(24).toString('base64url');
  const token = state.secrets?.agentToken ?? agentToken ?? randomBytes(32).toString('base64url');
  state.secrets = { ...state.secrets, botToken: bot, webhookSecret, agentToken: token };
  // The relay gets another secret, so that what Telegram sends with the old one would be refused.
  delete state.done?.webhook;
  await save();
  const secrets: RelaySecrets = {
    TELEGRAM_BOT_TOKEN: bot,
    TELEGRAM_WEBHOOK_SECRET: webhookSecret,
    TELEGRAM_CHAT_ID: state.chat?.id ?? '',
    TELEGRAM_USER_IDS: state.chat?.userId ?? '',
    WA_AGENT_TOKEN_SHA256: createHash('sha256').update(token).digest('hex'),
    ...(apiRootOf(env) === defaultApiRoot ? {} : { TELEGRAM_API_ROOT: apiRootOf(env) }),
  };
  const { url } = await prompter.progress('Deploying the relay', (update) =>
    deployRelay(cloudflare, {
      place: { accountId, script },
      workerFile: join(distDir, 'worker.js'),
      version,
      workersDevUrl: env.WA_WORKERS_DEV_URL,
      onStep: update,
      signal,
      secrets,
    }),
  );
  return { script, url };
}

/** A relay that this machine knows nothing of may serve others. Errors: `worker_name_taken` when the person keeps it. */
async function askToReplace({ prompter }: SetupWorld, cloudflare: Cloudflare, place: Place): Promise<void> {
  if ((await cloudflare.inspect(place)).kind !== 'relay') return;
  const question: Question = {
    need: 'replaceRelay',
    kind: 'yes',
    ask: `This account has a relay named ${place.script} already. Give it this bot and this chat? Machines that use it now lose it`,
    how: '--replace-relay, or --script NAME for another one',
  };
  if ((await prompter.ask(question)) === 'yes') return;
  throw new WaError('worker_name_taken', `the relay ${place.script} of this account is left as it is`, {
    hint: 'To use it from here: `wa-sync setup --relay URL` with its agent token. For another one: --script NAME.',
  });
}

/** The one entry, or the person's choice. Errors: `not_found` for an empty list. */
async function theOnly(
  need: string,
  ask: string,
  how: string,
  all: readonly (string | { value: string; label: string })[],
  { prompter }: SetupWorld,
): Promise<string> {
  const choices = all.map((each) => (typeof each === 'string' ? { value: each, label: each } : each));
  const [only] = choices;
  if (!only) throw new WaError('not_found', `there is no ${need} to choose`, { hint: `Check ${how}.` });
  return choices.length === 1 ? only.value : prompter.ask({ need, kind: 'choice', ask, how, choices });
}
