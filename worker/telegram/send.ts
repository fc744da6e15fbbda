// Neutral outbound calls as Bot API requests. The only place that holds the bot token; it never retries and never throws.

import type { ForceReply, InlineKeyboardMarkup } from 'grammy/types';
import type { OutboundButton, OutboundCall, OutboundText, Reaction, ReplyField, SendOutcome } from '../platform.ts';
import { type ApiAnswer, parseBody, readAnswer } from './errors.ts';

export interface BotApi {
  /** Without a trailing slash. */
  apiRoot: string;
  token: string;
  fetch: (url: string, init: RequestInit) => Promise<Response>;
}

const callTimeoutMs = 20_000;
/** Nothing that people read waits long behind a reaction. */
const reactionTimeoutMs = 5_000;
const typingTimeoutMs = 5_000;

/** Of the fixed list that bots may use. */
const emojiOf: Record<Reaction, string> = { seen: '👀', working: '✍', done: '👍', failed: '👎' };

export async function callBotApi(api: BotApi, call: OutboundCall): Promise<SendOutcome> {
  const [method, params] = requestOf(call);
  try {
    return readAnswer(await post(api, method, params, call.kind === 'react' ? reactionTimeoutMs : callTimeoutMs));
  } catch (error) {
    return unreachable(error);
  }
}

/** The message of a network error may hold the address, and with it the token. */
export function unreachable(error: unknown): SendOutcome {
  const name = error instanceof Error ? error.name : 'error';
  return { kind: 'retry', code: 'platform_unreachable', reason: `no answer (${name})`, uncertain: true };
}

/** Shows "typing" for some seconds; a failure is ignored. */
export async function showTyping(api: BotApi, chatId: string, topic: number): Promise<void> {
  const params = { chat_id: chatIdOf(chatId), ...placementOf(topic, undefined), action: 'typing' };
  await post(api, 'sendChatAction', params, typingTimeoutMs).catch(() => {});
}

/** Null when the answer holds no username. */
export async function fetchBotUsername(api: BotApi): Promise<string | null> {
  const answer = await post(api, 'getMe', {}).catch(() => null);
  return parseBody(answer?.body ?? '')?.result?.username || null;
}

/** Throws when the API does not answer. */
export function post(
  api: BotApi,
  method: string,
  params: Record<string, unknown>,
  timeoutMs = callTimeoutMs,
): Promise<ApiAnswer> {
  const headers = { 'content-type': 'application/json' };
  return withDeadline(timeoutMs, ({ signal }) =>
    request(api, method, { headers, body: JSON.stringify(params), signal }),
  );
}

export async function request(api: BotApi, method: string, init: RequestInit): Promise<ApiAnswer> {
  const address = `${api.apiRoot}/bot${api.token}/${method}`;
  const response = await api.fetch(address, { method: 'POST', redirect: 'manual', ...init });
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body: await response.text() };
}

/** Not AbortSignal.timeout: its timer would outlive the call and keep the object from hibernating. */
export async function withDeadline<T>(ms: number, run: (deadline: AbortController) => Promise<T>): Promise<T> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), ms);
  try {
    return await run(deadline);
  } finally {
    clearTimeout(timer);
  }
}

function requestOf(call: OutboundCall): [method: string, params: Record<string, unknown>] {
  if (call.kind === 'acknowledge') {
    return ['answerCallbackQuery', { callback_query_id: call.queryRef, text: call.text }];
  }
  const chat_id = chatIdOf(call.chatId);
  switch (call.kind) {
    case 'send':
      return [
        'sendMessage',
        { chat_id, ...textOf(call), ...replyFieldOf(call.replyField), ...placementOf(call.topic, call.replyToRef) },
      ];
    case 'edit':
      return ['editMessageText', { chat_id, message_id: Number(call.ref), ...textOf(call) }];
    case 'buttons': {
      const reply_markup = keyboardOf(call.buttons);
      return ['editMessageReplyMarkup', { chat_id, message_id: Number(call.ref), reply_markup }];
    }
    case 'react': {
      const reaction = [{ type: 'emoji', emoji: emojiOf[call.reaction] }];
      return ['setMessageReaction', { chat_id, message_id: Number(call.ref), reaction }];
    }
    case 'menu': {
      const commands = call.commands.map(({ name, help }) => ({ command: name, description: help }));
      // Strangers who find the bot get no menu.
      return ['setMyCommands', { scope: { type: 'chat', chat_id }, commands }];
    }
  }
}

/** Thread 1 is "General", which the Bot API refuses by that id. */
export function placementOf(topic: number, replyToRef: string | undefined): Record<string, unknown> {
  return {
    ...(topic > 1 ? { message_thread_id: topic } : {}),
    ...(replyToRef === undefined || !/^\d+$/.test(replyToRef)
      ? {}
      : { reply_parameters: { message_id: Number(replyToRef), allow_sending_without_reply: true } }),
  };
}

function replyFieldOf(field: ReplyField | undefined): { reply_markup?: ForceReply } {
  if (!field) return {};
  const hint = field.hint === '' ? {} : { input_field_placeholder: field.hint };
  return { reply_markup: { force_reply: true, ...hint } };
}

function textOf(call: OutboundText): Record<string, unknown> {
  return {
    text: call.text,
    ...(call.entities.length === 0 ? {} : { entities: call.entities }),
    link_preview_options: { is_disabled: true },
    ...(call.buttons.length === 0 ? {} : { reply_markup: keyboardOf(call.buttons) }),
  };
}

function keyboardOf(rows: OutboundButton[][]): InlineKeyboardMarkup {
  return {
    inline_keyboard: rows.map((row) =>
      row.map(({ label, id, style }) => ({
        text: label,
        callback_data: id,
        ...(style === undefined ? {} : { style }),
      })),
    ),
  };
}

export function chatIdOf(chatId: string): number | string {
  return /^-?\d+$/.test(chatId) ? Number(chatId) : chatId;
}
