// Deploys the relay into a Cloudflare account, the person's own or a temporary one, with the secrets of bot, chat and machine.

import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { deployment } from '../../protocol/deployment.ts';
import { WaError } from '../../protocol/errors.ts';
import { version } from '../version.ts';
import { botToken } from './bot.ts';
import { type Cloudflare, openCloudflare, type Place } from './cloudflare/client.ts';
import { deployRelay, type RelaySecrets } from './cloudflare/deploy.ts';
import { findLogin, type Login, tokenPage } from './cloudflare/login.ts';
import { cloudflareTerms, createTemporaryAccount, isExpired } from './cloudflare/temporary.ts';
import type { Question } from './prompter.ts';
import { apiRootOf, defaultApiRoot, type SetupWorld } from './world.ts';

export interface RelayPlace {
  configDir: string;
  /** Of config.json, when it is for the relay of `state.relay`. */
  agentToken: string | undefined;
}

export async function deployToAccount(world: SetupWorld, place: RelayPlace): Promise<void> {
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

export async function deployToTemporary(world: SetupWorld, place: RelayPlace): Promise<void> {
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
export async function theOnly(
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
