// The settings of the relay for Telegram, checked as `relay-settings.ts` checks the others, and what a project must not name.

import { type HintFor, listOf, misconfigured, type RelayVariables, textOf } from './relay-settings.ts';

export interface TelegramSettings {
  botToken: string;
  /** The part of the token before the colon. */
  botId: string;
  apiRoot: string;
  chatIds: readonly string[];
  userIds: ReadonlySet<string>;
}

/** Raises `misconfigured`, naming the setting. */
export function checkTelegram(env: RelayVariables, hintFor: HintFor): TelegramSettings {
  const wrong = (name: string, problem: string) => misconfigured(name, problem, hintFor);
  const botToken = textOf(env.TELEGRAM_BOT_TOKEN);
  const botId = /^(\d+):[A-Za-z0-9_-]+$/.exec(botToken)?.[1];
  if (botId === undefined) throw wrong('TELEGRAM_BOT_TOKEN', 'is not of the form <number>:<secret>');
  const chatIds = listOf(env.TELEGRAM_CHAT_ID);
  if (chatIds.length === 0 || !chatIds.every((id) => /^-?\d{1,20}$/.test(id))) {
    throw wrong('TELEGRAM_CHAT_ID', 'is not a comma list of chat ids');
  }
  const userIds = listOf(env.TELEGRAM_USER_IDS);
  if (!userIds.every((id) => /^\d{1,20}$/.test(id))) {
    throw wrong('TELEGRAM_USER_IDS', 'is not a comma list of user ids');
  }
  if (userIds.length === 0 && chatIds.some((id) => id.startsWith('-'))) {
    throw wrong('TELEGRAM_USER_IDS', 'is not set, but TELEGRAM_CHAT_ID names a group');
  }
  const apiRoot = (textOf(env.TELEGRAM_API_ROOT) || 'https://api.telegram.org').replace(/(?<!\/)\/+$/, '');
  if (!/^https?:\/\/[^/?#]+/.test(apiRoot)) throw wrong('TELEGRAM_API_ROOT', `is not an http URL: ${apiRoot}`);
  // A private chat's id is its user's id.
  return { botToken, botId, apiRoot, chatIds, userIds: new Set(userIds.length > 0 ? userIds : chatIds) };
}

/** Settings that let one speak as the owner; neither the daemon nor a coding agent has a use for them. */
export const ownerSecrets: readonly string[] = [
  'TELEGRAM_BOT_TOKEN',
  'TELEGRAM_WEBHOOK_SECRET',
  'TELEGRAM_WEBHOOK_SECRET_NEXT',
];

/** What the relay has a use for, as setWebhook and getUpdates name it. */
export const allowedUpdates = [
  'message',
  'edited_message',
  'callback_query',
  'my_chat_member',
  'stopped_message_generation',
] as const;

/** Path of the webhook. */
export const webhookRoute = '/telegram/webhook';
