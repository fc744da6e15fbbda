// Neutral outbound calls as Bot API requests. The only place that holds the bot token; it never retries and never throws.

import type { InlineKeyboardMarkup } from 'grammy/types';
import type { OutboundButton, OutboundCall, OutboundText, Reaction, SendOutcome } from '../platform.ts';
import { type ApiAnswer, readAnswer } from './errors.ts';

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
  const { method, params } = requestOf(call);
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
  try {
    const { body } = await post(api, 'getMe', {});
    const name: unknown = (JSON.parse(body) as { result?: { username?: unknown } }).result?.username;
    return typeof name === 'string' && name !== '' ? name : null;
  } catch {
    return null;
  }
}

/** Throws when the API does not answer. */
export async function post(
  api: BotApi,
  method: string,
  params: Record<string, unknown>,
  timeoutMs = callTimeoutMs,
): Promise<ApiAnswer> {
  // Not AbortSignal.timeout: its timer would outlive the call and keep the object from hibernating.
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  try {
    const response = await api.fetch(`${api.apiRoot}/bot${api.token}/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(params),
      redirect: 'manual',
      signal: deadline.signal,
    });
    return {
      status: response.status,
      retryAfter: response.headers.get('retry-after'),
      body: await response.text(),
    };
  } finally {
    clearTimeout(timer);
  }
}

function requestOf(call: OutboundCall): { method: string; params: Record<string, unknown> } {
  if (call.kind === 'acknowledge') {
    return { method: 'answerCallbackQuery', params: { callback_query_id: call.queryRef, text: call.text } };
  }
  const chat_id = chatIdOf(call.chatId);
  switch (call.kind) {
    case 'send':
      return {
        method: 'sendMessage',
        params: { chat_id, ...textOf(call), ...placementOf(call.topic, call.replyToRef) },
      };
    case 'edit':
      return { method: 'editMessageText', params: { chat_id, message_id: Number(call.ref), ...textOf(call) } };
    case 'buttons': {
      const reply_markup = keyboardOf(call.buttons);
      return { method: 'editMessageReplyMarkup', params: { chat_id, message_id: Number(call.ref), reply_markup } };
    }
    case 'react': {
      const reaction = [{ type: 'emoji', emoji: emojiOf[call.reaction] }];
      return { method: 'setMessageReaction', params: { chat_id, message_id: Number(call.ref), reaction } };
    }
    case 'menu': {
      const commands = call.commands.map(({ name, help }) => ({ command: name, description: help }));
      // Strangers who find the bot get no menu.
      return { method: 'setMyCommands', params: { scope: { type: 'chat', chat_id }, commands } };
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
