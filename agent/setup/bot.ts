// The bot: its token, checked with getMe, and whether its webhook is in use. The token stands in the state until the step that needs it
// last is done.

import type { Api } from 'grammy/web';
import { WaError } from '../../protocol/errors.ts';
import { webhookRoute } from '../../protocol/telegram-settings.ts';
import { openApi } from '../dev/bot-api.ts';
import { asWaError } from '../dev/bot-errors.ts';
import { readBotFile } from '../dev/local-bot.ts';
import type { Question } from './prompter.ts';
import type { BotRecord } from './state.ts';
import { apiRootOf, type SetupWorld } from './world.ts';

const tokenForm = /^(\d{1,20}):[A-Za-z0-9_-]{10,256}$/;

const question: Question = {
  need: 'botToken',
  kind: 'secret',
  ask: 'Paste the token that @BotFather gave (nothing is shown), then press Enter',
  how: 'the variable TELEGRAM_BOT_TOKEN or --bot-token-stdin',
};

/** Each call of the Bot API that setup makes; failures are `WaError`s. */
export function openBot(token: string, env: SetupWorld['env']): Bot {
  const api = openApi({ token, apiRoot: apiRootOf(env), timeoutSeconds: 60 });
  return (call) =>
    call(api).catch((cause: unknown) => {
      throw asWaError(cause);
    });
}

export type Bot = <T>(call: (api: Api) => Promise<T>) => Promise<T>;

/** Errors: `needs_input`, `cancelled`, `bad_arguments`, and those of the Bot API. */
export async function setUpBot(world: SetupWorld): Promise<void> {
  const { prompter, state } = world;
  if (world.env.TELEGRAM_BOT_TOKEN === undefined) {
    prompter.say('A bot of your own carries the messages. In Telegram, @BotFather makes one: /newbot, then a name.');
    prompter.link('Open @BotFather (with buttons: https://t.me/BotFather?startapp)', 'https://t.me/BotFather');
  }
  await prompter.ask(question, (token) => take(token, world));
  const { bot } = state;
  prompter.done('bot', `@${bot?.username}`);
}

/** Checks a token and keeps it. Errors: `bad_arguments`, `platform_unauthorized`, and those of the Bot API. */
async function take(token: string, { env, state, save }: SetupWorld): Promise<void> {
  if (!tokenForm.test(token)) {
    throw new WaError('bad_arguments', 'that is not a bot token: expected <number>:<letters and digits>', {
      hint: 'Copy the whole token from the message of @BotFather.',
    });
  }
  const me = await openBot(token, env)((api) => api.getMe());
  const bot: BotRecord = { id: String(me.id), username: me.username, readsGroups: me.can_read_all_group_messages };
  if (state.bot?.id !== bot.id) {
    delete state.chat;
    delete state.pairing;
  }
  state.bot = bot;
  // The relay has another token, or one that was revoked.
  delete state.done?.relay;
  state.secrets = { ...state.secrets, botToken: token };
  await save();
}

/** The token, from the state or from the bot of a local relay; asked for when setup has forgotten it. */
export async function botToken(world: SetupWorld, configDir: string): Promise<string> {
  const { state } = world;
  const kept = state.secrets?.botToken ?? (await readBotFile(configDir))?.token;
  if (kept !== undefined) return kept;
  world.prompter.say('Setup has forgotten the token of the bot, as it should. This step needs it once more.');
  await setUpBot(world);
  return state.secrets?.botToken ?? '';
}

/**
 * Takes a set webhook away, because Telegram then refuses getUpdates. Our own relay's is set again by the step `webhook`. True = ours
 * was taken. Errors: `webhook_active` for somebody else's unless setup was told to take it.
 */
export async function freeWebhook(bot: Bot, { options, prompter, state, save }: SetupWorld): Promise<boolean> {
  const { url } = await bot((api) => api.getWebhookInfo());
  if (!url) return false;
  const host = URL.canParse(url) ? new URL(url).host : url;
  if (!isOurs(url, state.relay) && !options.takesWebhook) {
    throw new WaError('webhook_active', `this bot serves another program: its webhook is at ${host}`, {
      hint: 'Make another bot with @BotFather, or take the webhook away from that program: add --take-webhook.',
    });
  }
  delete state.done?.webhook;
  await save();
  await bot((api) => api.deleteWebhook({ drop_pending_updates: false }));
  prompter.say(`The webhook at ${host} is removed; waiting messages stay at Telegram.`);
  return isOurs(url, state.relay);
}

function isOurs(url: string, relay: SetupWorld['state']['relay']): boolean {
  return relay !== undefined && 'url' in relay && url === `${relay.url}${webhookRoute}`;
}
