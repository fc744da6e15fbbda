// The relay: chosen by what is there, deployed or only addressed. It knows bot, chat and users from its first moment, since pairing came
// before.

import { WaError } from '../../protocol/errors.ts';
import { writeBotFile } from '../dev/local-bot.ts';
import { createRelayClient } from '../relay/client.ts';
import { botToken, freeWebhook, openBot } from './bot.ts';
import { findLogin } from './cloudflare/login.ts';
import { isExpired } from './cloudflare/temporary.ts';
import type { Question } from './prompter.ts';
import { deployToAccount, deployToTemporary, type RelayPlace, theOnly } from './relay-deploy.ts';
import type { RelayRecord, SetupState } from './state.ts';
import { apiRootOf, type SetupOptions, type SetupWorld } from './world.ts';

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
