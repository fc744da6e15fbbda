// The last word to Telegram: where updates go, which ones, and the menu of commands. After that setup forgets the token of the bot.

import { offeredForms } from '../../protocol/commands.ts';
import { WaError } from '../../protocol/errors.ts';
import { type Language, languages } from '../../protocol/languages.ts';
import { allowedUpdates, webhookRoute } from '../../protocol/telegram-settings.ts';
import { textsIn } from '../../protocol/texts.ts';
import { type Bot, botToken, openBot } from './bot.ts';
import { inputsOf } from './relay.ts';
import type { SetupState } from './state.ts';
import type { SetupWorld } from './world.ts';

export function webhookInputs(state: SetupState): string {
  const { relay } = state;
  return `${relay && 'url' in relay ? relay.url : ''} ${inputsOf(state)}`;
}

interface WebhookPlace {
  configDir: string;
  /** See `SetupParts`. */
  rehome(): Promise<boolean>;
}

/** Errors: `misconfigured` when Telegram did not take it as it was told, and those of the Bot API and of the relay. */
export async function setUpWebhook(world: SetupWorld, { configDir, rehome }: WebhookPlace): Promise<void> {
  const { prompter, state, save } = world;
  const { relay, secrets } = state;
  if (relay?.kind === 'local') {
    await offerCommands(openBot(await botToken(world, configDir), world.env));
    prompter.done('webhook', 'none: the daemon asks Telegram itself');
  } else if (relay?.kind === 'url') {
    prompter.done('webhook', 'as it is: this relay was set up elsewhere');
  } else if (relay && secrets?.botToken && secrets.webhookSecret) {
    const bot = openBot(secrets.botToken, world.env);
    await pointTo(bot, { url: `${relay.url}${webhookRoute}`, secret: secrets.webhookSecret }, world);
    await offerCommands(bot);
    prompter.done('webhook', 'set and checked');
  } else if (await rehome()) prompter.done('webhook', 'set by the relay');
  else {
    throw new WaError('not_configured', 'there is no relay yet whose webhook could be set', {
      hint: 'Run `wa-sync setup relay`.',
    });
  }
  state.done = { ...state.done, webhook: webhookInputs(state) };
  // The relay has the token now, and a local one has it in bot.json.
  delete state.secrets?.botToken;
  delete state.secrets?.webhookSecret;
  delete state.secrets?.account;
  await save();
}

async function pointTo(
  bot: Bot,
  { url, secret }: { url: string; secret: string },
  { options }: SetupWorld,
): Promise<void> {
  const before = (await bot((api) => api.getWebhookInfo())).url;
  const isForeign = before && before !== url && !before.endsWith(webhookRoute);
  if (isForeign && !options.takesWebhook) {
    throw new WaError('webhook_active', `this bot serves another program: its webhook is at ${new URL(before).host}`, {
      hint: 'Take the webhook away from that program: add --take-webhook.',
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
  for (const language of Object.keys(languages) as Language[]) {
    const { help } = textsIn(language).commands;
    const commands = offeredForms.map(({ form }) => ({ command: form, description: help[form] }));
    // English for whoever's phone speaks none of ours.
    await bot((api) => api.setMyCommands(commands, language === 'en' ? {} : { language_code: language }));
  }
}
