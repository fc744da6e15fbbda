// What the relay must be told before it serves: names, forms and what belongs together. Read by the Worker and by `wa-sync dev`,
// so that both refuse the same. Pure; never puts the value of a secret into an error.

import { WaError } from './errors.ts';
import { relayLimits } from './limits.ts';

export interface RelayVariables {
  TELEGRAM_BOT_TOKEN?: unknown;
  TELEGRAM_WEBHOOK_SECRET?: unknown;
  TELEGRAM_CHAT_ID?: unknown;
  TELEGRAM_USER_IDS?: unknown;
  TELEGRAM_API_ROOT?: unknown;
  WA_AGENT_TOKEN_SHA256?: unknown;
  WA_MESSAGE_TTL_HOURS?: unknown;
}

export interface Settings {
  botToken: string;
  /** The part of the token before the colon. */
  botId: string;
  apiRoot: string;
  /** Null = every webhook is refused. */
  webhookSecret: string | null;
  chatIds: readonly string[];
  userIds: ReadonlySet<string>;
  /** Lower-case hex; one, or two during a rotation. */
  agentTokenHashes: readonly string[];
  /** How long a message waits for its workstation. */
  messageTtlMs: number;
}

/** Raises `misconfigured`, naming the setting; `hintFor` says how that one is repaired here. */
export function checkSettings(env: RelayVariables, hintFor: (name: keyof RelayVariables) => string): Settings {
  const misconfigured = (name: keyof RelayVariables, problem: string) =>
    new WaError('misconfigured', `the relay's ${name} ${problem}`, { hint: hintFor(name) });
  const botToken = textOf(env.TELEGRAM_BOT_TOKEN);
  const botId = /^(\d+):[A-Za-z0-9_-]+$/.exec(botToken)?.[1];
  if (botId === undefined) throw misconfigured('TELEGRAM_BOT_TOKEN', 'is not of the form <number>:<secret>');
  const chatIds = listOf(env.TELEGRAM_CHAT_ID);
  if (chatIds.length === 0 || !chatIds.every((id) => /^-?\d{1,20}$/.test(id))) {
    throw misconfigured('TELEGRAM_CHAT_ID', 'is not a comma list of chat ids');
  }
  const userIds = listOf(env.TELEGRAM_USER_IDS);
  if (!userIds.every((id) => /^\d{1,20}$/.test(id)))
    throw misconfigured('TELEGRAM_USER_IDS', 'is not a comma list of user ids');
  if (userIds.length === 0 && chatIds.some((id) => id.startsWith('-'))) {
    throw misconfigured('TELEGRAM_USER_IDS', 'is not set, but TELEGRAM_CHAT_ID names a group');
  }
  const agentTokenHashes = listOf(env.WA_AGENT_TOKEN_SHA256).map((hash) => hash.toLowerCase());
  if (
    agentTokenHashes.length < 1 ||
    agentTokenHashes.length > 2 ||
    !agentTokenHashes.every((hash) => /^[0-9a-f]{64}$/.test(hash))
  ) {
    throw misconfigured('WA_AGENT_TOKEN_SHA256', 'is not one or two SHA-256 sums in hex');
  }
  const apiRoot = (textOf(env.TELEGRAM_API_ROOT) || 'https://api.telegram.org').replace(/(?<!\/)\/+$/, '');
  if (!/^https?:\/\/[^/?#]+/.test(apiRoot)) throw misconfigured('TELEGRAM_API_ROOT', `is not an http URL: ${apiRoot}`);
  const hours = textOf(env.WA_MESSAGE_TTL_HOURS);
  const ttlMs = messageTtlMs(hours);
  if (ttlMs === undefined) {
    throw misconfigured('WA_MESSAGE_TTL_HOURS', `is not a number of hours from 1 to ${maxTtlHours}: ${hours}`);
  }
  return {
    botToken,
    botId,
    apiRoot,
    webhookSecret: textOf(env.TELEGRAM_WEBHOOK_SECRET) || null,
    chatIds,
    // A private chat's id is its user's id.
    userIds: new Set(userIds.length > 0 ? userIds : chatIds),
    agentTokenHashes,
    messageTtlMs: ttlMs,
  };
}

const maxTtlHours = 168;

/** Undefined = not a number of hours that is allowed. */
function messageTtlMs(text: string): number | undefined {
  if (text === '') return relayLimits.messageTtlMs;
  const hours = Number(text);
  return Number.isInteger(hours) && hours >= 1 && hours <= maxTtlHours ? hours * 3_600_000 : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
}

function listOf(value: unknown): string[] {
  return textOf(value)
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
