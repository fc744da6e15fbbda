// The only reader of the Worker's bindings: checked once, frozen, closed when something is missing.

import { WaError } from '../protocol/errors.ts';
import { relayLimits } from '../protocol/limits.ts';
import type { Mailbox } from './mailbox/object.ts';

export interface Bindings {
  MAILBOX: DurableObjectNamespace<Mailbox>;
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

const checked = new WeakMap<object, Settings>();

/** Raises `misconfigured`, naming the setting and never its value when that is a secret. */
export function readSettings(env: Bindings): Settings {
  const known = checked.get(env);
  if (known) return known;
  const settings = Object.freeze(check(env));
  checked.set(env, settings);
  return settings;
}

function check(env: Bindings): Settings {
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
  const apiRoot = (textOf(env.TELEGRAM_API_ROOT) || 'https://api.telegram.org').replace(/\/+$/, '');
  if (!/^https?:\/\/[^/?#]+/.test(apiRoot)) throw misconfigured('TELEGRAM_API_ROOT', `is not an http URL: ${apiRoot}`);
  return {
    botToken,
    botId,
    apiRoot,
    webhookSecret: textOf(env.TELEGRAM_WEBHOOK_SECRET) || null,
    chatIds,
    // A private chat's id is its user's id.
    userIds: new Set(userIds.length > 0 ? userIds : chatIds),
    agentTokenHashes,
    messageTtlMs: messageTtlMs(textOf(env.WA_MESSAGE_TTL_HOURS)),
  };
}

const maxTtlHours = 168;

function messageTtlMs(text: string): number {
  if (text === '') return relayLimits.messageTtlMs;
  const hours = Number(text);
  if (Number.isInteger(hours) && hours >= 1 && hours <= maxTtlHours) return hours * 3_600_000;
  throw misconfigured('WA_MESSAGE_TTL_HOURS', `is not a number of hours from 1 to ${maxTtlHours}: ${text}`);
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

function misconfigured(name: string, problem: string): WaError {
  return new WaError('misconfigured', `the relay's ${name} ${problem}`, {
    hint: `set it: \`npx wrangler secret put ${name}\``,
  });
}
