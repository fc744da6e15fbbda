// What Telegram says of the bot: its webhook, its rights, its chats. Only asks; the token and the address of a foreign webhook stay here.

import * as v from 'valibot';
import type { ErrorCode } from '../../protocol/errors.ts';
import { allowedUpdates, webhookRoute } from '../../protocol/telegram-settings.ts';
import type { Inspection, WebhookReport } from '../../protocol/webhook-api.ts';
import { readAnswer } from './errors.ts';
import { type BotApi, chatIdOf, post, unreachable } from './send.ts';

/** Each chat costs a call, of which a Worker has few. */
const maxChats = 10;
const maxReason = 200;

const text = v.fallback(v.optional(v.string()), undefined);
const number = v.fallback(v.optional(v.number()), undefined);
const flag = v.fallback(v.optional(v.boolean()), undefined);
const answerSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    ok: v.literal(true),
    result: v.object({
      username: text,
      can_read_all_group_messages: flag,
      has_topics_enabled: flag,
      url: text,
      pending_update_count: number,
      last_error_date: number,
      last_error_message: text,
      allowed_updates: v.fallback(v.optional(v.array(v.string())), undefined),
      status: text,
    }),
  }),
);

type Result = v.InferOutput<typeof answerSchema>['result'];

type Report = Extract<Inspection, { kind: 'report' }>;

export async function inspect(
  api: BotApi,
  { botId, chatIds }: { botId: string; chatIds: readonly string[] },
): Promise<Inspection> {
  const [me, webhook] = await Promise.all([ask(api, 'getMe'), ask(api, 'getWebhookInfo')]);
  if ('code' in me) return failed(me);
  if ('code' in webhook) return failed(webhook);
  const { username, can_read_all_group_messages: readsGroups = false, has_topics_enabled: topics = false } = me;
  const bot = { id: botId, name: username === undefined ? 'the bot' : `@${username}`, readsGroups };
  const troubles = await Promise.all(chatIds.slice(0, maxChats).map((chatId) => chatTroubles(api, bot, chatId)));
  return {
    kind: 'report',
    username: username ?? null,
    topics,
    webhook: webhookReport(webhook),
    troubles: troubles.flat(),
  };
}

function failed({ code, reason }: Refusal): Inspection {
  const isToken = code === 'platform_unauthorized';
  const repair = isToken
    ? 'Give the relay the token that @BotFather shows now: npx wrangler secret put TELEGRAM_BOT_TOKEN.'
    : 'Wait: the relay tries again by itself. If it lasts, see whether Telegram works elsewhere.';
  return { kind: 'failed', code, reason, repair };
}

function webhookReport(info: Result): WebhookReport {
  const url = info.url && URL.canParse(info.url) ? new URL(info.url) : undefined;
  const { last_error_date: at, last_error_message: reason = '', allowed_updates: allowed = [] } = info;
  return {
    host: url?.host ?? null,
    route: webhookRoute,
    isRoute: url?.pathname === webhookRoute,
    pending: info.pending_update_count ?? 0,
    lastError: at === undefined ? null : { at: at * 1000, reason: reason.slice(0, maxReason) },
    // Without a list Telegram sends every kind that the relay needs.
    missing: allowed.length === 0 ? [] : allowedUpdates.filter((kind) => !allowed.includes(kind)),
  };
}

async function chatTroubles(
  api: BotApi,
  bot: { id: string; name: string; readsGroups: boolean },
  chatId: string,
): Promise<Report['troubles']> {
  const isGroup = chatId.startsWith('-');
  const chat_id = chatIdOf(chatId);
  const answer = isGroup
    ? await ask(api, 'getChatMember', { chat_id, user_id: Number(bot.id) })
    : await ask(api, 'getChat', { chat_id });
  const status = 'code' in answer ? '' : (answer.status ?? '');
  const problem =
    'code' in answer ? answer.reason : /^(left|kicked)$/.test(status) ? `the bot has ${status}` : undefined;
  if (problem !== undefined) {
    const repair = isGroup ? `Add ${bot.name} to the group again.` : `Open ${bot.name} on the phone and tap START.`;
    return [{ what: `${bot.name} cannot reach chat ${chatId}: ${problem}`, repair }];
  }
  if (!isGroup || bot.readsGroups || /^(administrator|creator)$/.test(status)) return [];
  return [
    {
      what: `privacy mode: in group ${chatId} ${bot.name} hears only commands and answers to its own messages`,
      repair: '@BotFather: /setprivacy, Disable; then remove the bot from the group and add it again.',
    },
  ];
}

interface Refusal {
  code: ErrorCode;
  reason: string;
}

async function ask(api: BotApi, method: string, params: Record<string, unknown> = {}): Promise<Result | Refusal> {
  try {
    const answer = await post(api, method, params);
    const parsed = v.safeParse(answerSchema, answer.body);
    if (answer.status === 200 && parsed.success) return parsed.output.result;
    return refusal(readAnswer(answer));
  } catch (error) {
    return refusal(unreachable(error));
  }
}

function refusal(outcome: ReturnType<typeof readAnswer>): Refusal {
  if (!('code' in outcome)) return { code: 'platform_error', reason: "the answer is not the Bot API's" };
  return { code: outcome.code as ErrorCode, reason: outcome.reason.slice(0, maxReason) };
}
