// Telegram updates as neutral events. Total: any JSON gives an event or a reason, nothing throws.

import * as v from 'valibot';
import type { Decoded, InboundEvent } from '../platform.ts';
import { contentEntries, contentOf, kindOf } from './content.ts';

const integer = v.pipe(v.number(), v.safeInteger());
/** Up to the year 9999: what is later cannot be written as an ISO time, and would raise where one tries. */
const seconds = v.pipe(integer, v.minValue(0), v.maxValue(253_402_300_799));

const chatSchema = v.looseObject({ id: integer });

const messageSchema = v.looseObject({
  message_id: integer,
  date: seconds,
  edit_date: v.optional(seconds),
  chat: chatSchema,
  from: v.optional(v.looseObject({ id: integer, language_code: v.optional(v.string()) })),
  message_thread_id: v.optional(integer),
  is_topic_message: v.optional(v.boolean()),
  media_group_id: v.optional(v.string()),
  migrate_to_chat_id: v.optional(integer),
  quote: v.optional(v.looseObject({ text: v.string() })),
  reply_to_message: v.optional(
    v.looseObject({
      ...contentEntries,
      message_id: v.optional(integer),
      from: v.optional(v.looseObject({ id: integer })),
      sender_chat: v.optional(v.unknown()),
      forum_topic_created: v.optional(v.unknown()),
    }),
  ),
  external_reply: v.optional(
    v.looseObject({
      chat: v.optional(v.looseObject({ title: v.optional(v.string()) })),
      origin: v.optional(v.unknown()),
    }),
  ),
  ...contentEntries,
});

type Message = v.InferOutput<typeof messageSchema>;

const updateSchema = v.looseObject({
  update_id: integer,
  message: v.optional(messageSchema),
  edited_message: v.optional(messageSchema),
  callback_query: v.optional(
    v.looseObject({
      id: v.string(),
      from: v.looseObject({ id: integer, language_code: v.optional(v.string()) }),
      // An old message comes without text, with date 0.
      message: v.optional(
        v.looseObject({
          message_id: integer,
          chat: chatSchema,
          message_thread_id: v.optional(integer),
          is_topic_message: v.optional(v.boolean()),
        }),
      ),
      data: v.optional(v.string()),
    }),
  ),
  stopped_message_generation: v.optional(
    v.looseObject({ chat: chatSchema, message_thread_id: v.optional(integer), draft_id: integer }),
  ),
});

/** Longer quotes only repeat the agent's own text. */
const quoteMaxChars = 1024;

/** `botId` = this bot, whose messages are the agent's words. */
export function decodeUpdate(update: unknown, nowMs: number, botId?: number): Decoded {
  const parsed = v.safeParse(updateSchema, update);
  if (!parsed.success) return { ok: false, reason: 'unreadable' };
  const { update_id, message, edited_message, callback_query, stopped_message_generation } = parsed.output;
  const dedupeKey = String(update_id);
  if (message) return decodeMessage(message, dedupeKey, botId);
  if (edited_message) {
    const content = contentOf(edited_message);
    // A live location moves by edits, many a minute; where it began was said.
    if (content === null || edited_message.location !== undefined) return { ok: false, reason: 'service' };
    const { files: _files, tooLarge: _tooLarge, ...said } = content;
    return eventOf(edited_message.chat.id, edited_message.from?.id, {
      dedupeKey,
      project: topicOf(edited_message),
      at: (edited_message.edit_date ?? edited_message.date) * 1000,
      kind: 'edit',
      ref: String(edited_message.message_id),
      ...said,
      ...albumOf(edited_message),
    });
  }
  if (callback_query) {
    const { id, from, message: tapped, data } = callback_query;
    if (!tapped || data === undefined) return { ok: false, reason: 'unknown' };
    return eventOf(tapped.chat.id, from.id, {
      dedupeKey,
      project: topicOf(tapped),
      at: nowMs,
      ...languageOf(from),
      kind: 'button',
      buttonId: data,
      ref: String(tapped.message_id),
      queryRef: id,
      userId: String(from.id),
    });
  }
  if (stopped_message_generation) {
    const { chat, message_thread_id, draft_id } = stopped_message_generation;
    // Drafts exist in private chats only: the chat is the user.
    return eventOf(chat.id, chat.id, {
      dedupeKey,
      project: Math.max(0, message_thread_id ?? 0),
      at: nowMs,
      kind: 'message',
      ref: `draft-${draft_id}`,
      text: '/stop',
    });
  }
  return { ok: false, reason: 'unknown' };
}

function decodeMessage(message: Message, dedupeKey: string, botId: number | undefined): Decoded {
  const { chat, from } = message;
  const base = { dedupeKey, project: topicOf(message), at: message.date * 1000, ...languageOf(from) };
  if (message.migrate_to_chat_id !== undefined) {
    return eventOf(chat.id, from?.id, { ...base, kind: 'migrated', toChatId: String(message.migrate_to_chat_id) });
  }
  const content = contentOf(message);
  if (content === null) return { ok: false, reason: 'service' };
  const quote = quoteOf(message);
  return eventOf(chat.id, from?.id, {
    ...base,
    kind: 'message',
    ref: String(message.message_id),
    ...content,
    ...(quote === undefined ? {} : { quote, ...quoteFrom(message, botId) }),
    ...answerOf(message),
    ...albumOf(message),
  });
}

function eventOf(chatId: number, userId: number | undefined, event: InboundEvent): Decoded {
  return { ok: true, chatId: String(chatId), userId: userId === undefined ? null : String(userId), event };
}

/** A thread id alone is also set on plain replies in groups without topics. */
function topicOf(message: { is_topic_message?: boolean | undefined; message_thread_id?: number | undefined }): number {
  return message.is_topic_message === true ? Math.max(0, message.message_thread_id ?? 0) : 0;
}

function languageOf(from: { language_code?: string | undefined } | undefined): { language?: string } {
  return from?.language_code === undefined ? {} : { language: from.language_code };
}

function albumOf(message: Message): { album?: string } {
  return message.media_group_id === undefined ? {} : { album: message.media_group_id };
}

/** Only an answer to the bot can be meant for it; who gives it decides whether it counts. */
function answerOf({ reply_to_message: reply, from }: Message): { answersRef?: string; userId?: string } {
  if (reply?.message_id === undefined || reply.forum_topic_created !== undefined || from === undefined) return {};
  return { answersRef: String(reply.message_id), userId: String(from.id) };
}

/** Only for messages of this chat that were not forwarded. */
function quoteFrom(
  { reply_to_message: reply, from }: Message,
  botId: number | undefined,
): { quoteFrom?: 'agent' | 'owner' } {
  if (reply?.from === undefined || reply.forward_origin !== undefined || reply.sender_chat !== undefined) return {};
  if (reply.from.id === botId) return { quoteFrom: 'agent' };
  return reply.from.id === from?.id ? { quoteFrom: 'owner' } : {};
}

function quoteOf(message: Message): string | undefined {
  const text = message.quote?.text ?? answeredText(message);
  return text ? text.slice(0, quoteMaxChars) : undefined;
}

function answeredText({ reply_to_message: reply, external_reply: external }: Message): string | null {
  // In a topic every message answers the service message that made the topic.
  if (reply !== undefined && reply.forum_topic_created === undefined)
    return reply.text ?? reply.caption ?? kindOf(reply);
  return external === undefined ? null : `[a message in ${external.chat?.title ?? 'another chat'}]`;
}
