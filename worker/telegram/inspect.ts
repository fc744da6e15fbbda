// What Telegram says of the bot: its webhook, its rights, its chats. Only asks; the token and the address of a foreign webhook stay here.

import * as v from 'valibot';
import type { ErrorCode } from '../../protocol/errors.ts';
import type { ChatReport, Inspection, WebhookReport } from '../../protocol/relay-api.ts';
import { allowedUpdates, webhookRoute } from '../../protocol/telegram-settings.ts';
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

export async function inspect(
  api: BotApi,
  { botId, chatIds }: { botId: string; chatIds: readonly string[] },
): Promise<Inspection> {
  const [me, webhook] = await Promise.all([ask(api, 'getMe'), ask(api, 'getWebhookInfo')]);
  const failed = [me, webhook].find((each) => 'code' in each);
  if (failed && 'code' in failed) return { kind: 'failed', ...failed };
  const bot = me as Result;
  return {
    kind: 'report',
    username: bot.username ?? null,
    readsGroups: bot.can_read_all_group_messages ?? false,
    topics: bot.has_topics_enabled ?? false,
    webhook: webhookReport(webhook as Result),
    chats: await Promise.all(chatIds.slice(0, maxChats).map((chatId) => chatReport(api, botId, chatId))),
  };
}

function webhookReport(info: Result): WebhookReport {
  const url = info.url && URL.canParse(info.url) ? new URL(info.url) : undefined;
  const { last_error_date: at, last_error_message: reason = '', allowed_updates: allowed = [] } = info;
  return {
    host: url?.host ?? null,
    isRoute: url?.pathname === webhookRoute,
    pending: info.pending_update_count ?? 0,
    lastError: at === undefined ? null : { at: at * 1000, reason: reason.slice(0, maxReason) },
    // Without a list Telegram sends every kind that the relay needs.
    missing: allowed.length === 0 ? [] : allowedUpdates.filter((kind) => !allowed.includes(kind)),
  };
}

async function chatReport(api: BotApi, botId: string, chatId: string): Promise<ChatReport> {
  const isGroup = chatId.startsWith('-');
  const chat_id = chatIdOf(chatId);
  const answer = isGroup
    ? await ask(api, 'getChatMember', { chat_id, user_id: Number(botId) })
    : await ask(api, 'getChat', { chat_id });
  const { status } = 'code' in answer ? { status: undefined } : answer;
  const isOut = status === 'left' || status === 'kicked';
  return {
    chatId,
    isGroup,
    isAdmin: status === 'administrator' || status === 'creator',
    problem: 'code' in answer ? answer.reason : isOut ? `the bot has ${status} the group` : null,
  };
}

async function ask(
  api: BotApi,
  method: string,
  params: Record<string, unknown> = {},
): Promise<Result | { code: ErrorCode; reason: string }> {
  try {
    const answer = await post(api, method, params);
    const parsed = v.safeParse(answerSchema, answer.body);
    if (answer.status === 200 && parsed.success) return parsed.output.result;
    return refusal(readAnswer(answer));
  } catch (error) {
    return refusal(unreachable(error));
  }
}

function refusal(outcome: ReturnType<typeof readAnswer>): { code: ErrorCode; reason: string } {
  if (!('code' in outcome)) return { code: 'platform_error', reason: "the answer is not the Bot API's" };
  return { code: outcome.code as ErrorCode, reason: outcome.reason.slice(0, maxReason) };
}
