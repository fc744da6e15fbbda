// The bot of `wa-sync dev`, from the environment: checked with the rules of the Worker before anything starts.

import { randomBytes } from 'node:crypto';
import { WaError } from '../../protocol/errors.ts';
import { checkTelegram } from '../../protocol/telegram-settings.ts';

export interface DevTelegram {
  token: string;
  apiRoot: string;
  /** The chat that dev serves: the first of `TELEGRAM_CHAT_ID`. */
  chatId: string;
  userIds: string;
  secret: string;
  /** The environment names no secret, so dev made one. */
  isSecretOurs: boolean;
}

const repairs: Readonly<Record<string, string>> = {
  TELEGRAM_BOT_TOKEN: 'Set TELEGRAM_BOT_TOKEN to the token that @BotFather gave.',
  TELEGRAM_CHAT_ID: 'Set TELEGRAM_CHAT_ID to the chat id, a number (message.chat.id of an update).',
  TELEGRAM_USER_IDS:
    'Set TELEGRAM_USER_IDS to the ids of the users who may write (message.from.id), separated by commas.',
  TELEGRAM_API_ROOT: 'Set TELEGRAM_API_ROOT to the address of your Bot API server, or unset it.',
};

/** Errors: `not_configured` without a bot or a chat, `bad_config` naming the variable and what to set it to. */
export function readTelegram(env: Record<string, string | undefined>): DevTelegram {
  const missing = ['TELEGRAM_BOT_TOKEN', 'TELEGRAM_CHAT_ID'].filter((name) => !env[name]);
  if (missing.length > 0) {
    throw new WaError('not_configured', `${missing.join(' and ')} not set`, {
      hint: 'Set them, or omit --telegram: the phone in the browser needs no bot.',
    });
  }
  const secret = env.TELEGRAM_WEBHOOK_SECRET?.trim() || undefined;
  const { botToken, apiRoot, chatIds, userIds } = checked(env);
  return {
    token: botToken,
    apiRoot,
    chatId: chatIds[0] ?? '',
    userIds: [...userIds].join(','),
    secret: secret ?? randomBytes(24).toString('base64url'),
    isSecretOurs: secret === undefined,
  };
}

function checked(env: Record<string, string | undefined>): ReturnType<typeof checkTelegram> {
  try {
    return checkTelegram(env, (name) => repairs[name] ?? `Correct ${name}.`);
  } catch (cause) {
    if (!(cause instanceof WaError) || cause.hint === undefined) throw cause;
    throw new WaError('bad_config', cause.message.replace(/^the relay's /, ''), { hint: cause.hint, cause });
  }
}

/** The lines that tell how to deliver an update to `--telegram webhook`. */
export function deliveryLines(url: string, { secret, isSecretOurs, chatId, userIds }: DevTelegram): string[] {
  return [
    `webhook    ${url}`,
    `  header   X-Telegram-Bot-Api-Secret-Token: ${isSecretOurs ? secret : 'the value of TELEGRAM_WEBHOOK_SECRET'}`,
    `  body     an update of the Bot API as JSON, from chat ${chatId} (message.chat.id) and one of ${userIds} (message.from.id)`,
    ...(isSecretOurs ? ['  Each start makes a new secret; set TELEGRAM_WEBHOOK_SECRET to keep one.'] : []),
  ];
}
