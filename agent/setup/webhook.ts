// The last word to Telegram: where updates go, which ones, and the menu of commands. After that setup forgets the token of the bot.

import { offeredCommands } from '../../protocol/commands.ts';
import { WaError } from '../../protocol/errors.ts';
import { allowedUpdates, webhookRoute } from '../../protocol/telegram-settings.ts';
import { type Bot, botToken, openBot } from './bot.ts';
import { inputsOf } from './relay.ts';
import type { SetupState } from './state.ts';
import type { SetupWorld } from './world.ts';

export function webhookInputs(state: SetupState): string {
  const { relay } = state;
  return `${relay && 'url' in relay ? relay.url : ''} ${inputsOf(state)}`;
}

/** Errors: `misconfigured` when Telegram did not take it as it was told, and those of the Bot API. */
export async function setUpWebhook(world: SetupWorld, configDir: string): Promise<void> {
  const { prompter, state, save } = world;
  if (state.relay?.kind === 'url') {
    prompter.done('webhook', 'as it is: this relay was set up elsewhere');
  } else {
    const bot = openBot(await botToken(world, configDir), world.env);
    if (state.relay && 'url' in state.relay) await pointTo(bot, `${state.relay.url}${webhookRoute}`, world);
    await offerCommands(bot);
    prompter.done(
      'webhook',
      state.relay?.kind === 'local' ? 'none: the daemon asks Telegram itself' : 'set and checked',
    );
  }
  state.done = { ...state.done, webhook: webhookInputs(state) };
  // The relay has the token now, and a local one has it in bot.json.
  delete state.secrets?.botToken;
  delete state.secrets?.webhookSecret;
  delete state.secrets?.account;
  await save();
}

async function pointTo(bot: Bot, url: string, world: SetupWorld): Promise<void> {
  const { state, options } = world;
  const before = (await bot((api) => api.getWebhookInfo())).url;
  const isForeign = before && before !== url && !before.endsWith(webhookRoute);
  if (isForeign && !options.takesWebhook) {
    throw new WaError('webhook_active', `this bot serves another program: its webhook is at ${new URL(before).host}`, {
      hint: 'Take the webhook away from that program: add --take-webhook.',
    });
  }
  const secret = state.secrets?.webhookSecret;
  if (secret === undefined) {
    throw new WaError('misconfigured', 'setup does not know the secret of the webhook any more', {
      hint: 'Run `wa-sync setup relay`: it makes a new one and sets the webhook with it.',
    });
  }
  const wanted = { allowed_updates: [...allowedUpdates], secret_token: secret, drop_pending_updates: false };
  await bot((api) => api.setWebhook(url, wanted));
  const info = await bot((api) => api.getWebhookInfo());
  const missing = allowedUpdates.filter((kind) => !info.allowed_updates?.includes(kind));
  if (info.url === url && missing.length === 0) return;
  const seen = info.url === url ? `without ${missing.join(', ')}` : `at ${info.url || 'no address'}`;
  throw new WaError('misconfigured', `the webhook of the bot is ${seen}, although it was set`, {
    hint: 'Another program sets it, too: stop that program, then run `wa-sync setup webhook`.',
  });
}

async function offerCommands(bot: Bot): Promise<void> {
  const commands = offeredCommands.map(({ name, help }) => ({ command: name, description: help }));
  await bot((api) => api.setMyCommands(commands));
}
