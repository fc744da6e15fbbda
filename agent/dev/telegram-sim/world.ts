// The state of the simulated Telegram: chats, messages, files, presses. Knows no HTTP; every change is published for the phone.

import { randomBytes } from 'node:crypto';
import type { Message, MessageEntity, User } from 'grammy/types';
import { createEventLog, type EventLog } from './events.ts';
import { shownButtons } from './keyboard.ts';
import { badRequest } from './refusal.ts';
import type {
  ForceReply,
  Keyboard,
  PhoneReaction,
  SavedMessage,
  SimChat,
  SimFile,
  SimMessage,
  StoredMessage,
  UploadedFile,
} from './types.ts';

export interface World {
  bot: User;
  owner: User;
  privateTopics: boolean;
  readsGroups: boolean;
  chats: Map<number, SimChat>;
  /** Chat id -> message id -> message, in the order of sending. */
  messages: Map<number, Map<number, StoredMessage>>;
  nextMessageId: number;
  /** All reactions, in order. */
  reactions: PhoneReaction[];
  files: Map<string, { file: SimFile; path: string; data: Uint8Array }>;
  filesAdded: number;
  /** Presses that the bot has not answered yet. */
  openPresses: Set<string>;
  /** By scope and language. */
  commands: Map<string, { command: string; description: string }[]>;
  events: EventLog;
  clock: () => number;
}

/** The content of a new or edited message. */
export interface Content {
  text: string;
  entities: MessageEntity[];
  keyboard?: Keyboard | undefined;
  forceReply?: ForceReply | undefined;
  file?: SimFile | undefined;
  photo?: boolean;
  /** Messages with the same one are an album. */
  album?: string | undefined;
  replyTo?: number | undefined;
  quote?: string | undefined;
  threadId?: number | undefined;
}

export interface WorldOptions {
  /** Groups that the bot is in; `topics` (id -> name) makes one a forum. */
  groups?: { id: number; title?: string; topics?: Record<number, string>; botIsAdmin?: boolean }[];
  /** The privacy mode of the bot is off. */
  readsGroups?: boolean;
  /** The bot may create topics in the private chat. */
  privateTopics?: boolean;
}

interface Identity {
  botId: number;
  ownerId: number;
  firstId: number;
  clock: () => number;
}

export function createWorld(
  { groups = [], privateTopics = false, readsGroups = false }: WorldOptions,
  identity: Identity,
): World {
  const { botId, ownerId, firstId, clock } = identity;
  const chats = new Map<number, SimChat>([[ownerId, { id: ownerId, type: 'private', topics: new Map() }]]);
  for (const { id, title = 'Group', topics, botIsAdmin = false } of groups) {
    const named = Object.entries(topics ?? {}).map(([topic, name]) => [Number(topic), name] as const);
    const forum = topics && { isForum: true as const };
    chats.set(id, { id, type: 'supergroup', title, ...forum, botIsAdmin, topics: new Map(named) });
  }
  return {
    bot: { id: botId, is_bot: true, first_name: 'wa-sync', username: 'wa_sync_bot' },
    owner: { id: ownerId, is_bot: false, first_name: 'Owner', username: 'owner', language_code: 'en' },
    privateTopics,
    readsGroups,
    chats,
    messages: new Map(),
    nextMessageId: firstId,
    reactions: [],
    files: new Map(),
    filesAdded: 0,
    openPresses: new Set(),
    commands: new Map(),
    events: createEventLog(),
    clock,
  };
}

/** Rises with time, ten a second, and fits 32 bits for years: a relay that kept its storage sees no id twice. */
export function idFromClock(nowMs: number): number {
  return Math.floor((nowMs - Date.UTC(2026, 0, 1)) / 100);
}

/** @throws {Refusal} 400 chat not found */
export function findChat(world: World, chatId: number | undefined): SimChat {
  if (chatId === undefined) throw badRequest('chat_id is empty');
  const chat = world.chats.get(chatId);
  if (!chat) throw badRequest('chat not found');
  return chat;
}

export function findMessage(world: World, chatId: number, messageId: number | undefined): StoredMessage | undefined {
  return messageId === undefined ? undefined : world.messages.get(chatId)?.get(messageId);
}

export function addMessage(world: World, chat: SimChat, from: 'bot' | 'owner', content: Content): StoredMessage {
  const atMs = world.clock();
  const { threadId, replyTo, quote, album } = content;
  const repliedTo = findMessage(world, chat.id, replyTo);
  const message = {
    message_id: world.nextMessageId++,
    from: from === 'bot' ? world.bot : world.owner,
    chat: wireChat(world, chat),
    date: Math.floor(atMs / 1000),
    ...(threadId !== undefined && { message_thread_id: threadId, is_topic_message: true }),
    ...(repliedTo && { reply_to_message: withoutReply(repliedTo.message) }),
    ...(quote !== undefined && repliedTo && { quote: quoteOf(repliedTo.message, quote) }),
    ...(album !== undefined && { media_group_id: album }),
    ...wireContent(content),
  } as unknown as Message;
  const stored: StoredMessage = {
    message,
    chat,
    from,
    atMs,
    reactions: [],
    ...(content.file && { file: content.file }),
    ...(content.forceReply && { forceReply: content.forceReply }),
  };
  const ofChat = world.messages.get(chat.id) ?? new Map<number, StoredMessage>();
  world.messages.set(chat.id, ofChat.set(message.message_id, stored));
  publish(world, stored);
  return stored;
}

/** Replaces text and entities. Without a new keyboard the old one is removed, as on the real server. */
export function editText(world: World, stored: StoredMessage, { text, entities, keyboard }: Content): void {
  const { entities: _entities, reply_markup: _markup, ...rest } = stored.message;
  stored.message = { ...rest, ...wireContent({ text, entities, keyboard }) } as Message;
  markEdited(world, stored);
}

export function editKeyboard(world: World, stored: StoredMessage, keyboard: Keyboard | undefined): void {
  const { reply_markup: _markup, ...rest } = stored.message;
  stored.message = { ...rest, ...wireKeyboard(keyboard) } as Message;
  markEdited(world, stored);
}

function markEdited(world: World, stored: StoredMessage): void {
  stored.editedAtMs = world.clock();
  (stored.message as { edit_date?: number }).edit_date = Math.floor(stored.editedAtMs / 1000);
  publish(world, stored);
}

export function deleteMessage(world: World, stored: StoredMessage): void {
  world.messages.get(stored.chat.id)?.delete(stored.message.message_id);
  world.events.publish({ type: 'deleted', chatId: stored.chat.id, messageId: stored.message.message_id });
}

export function publish(world: World, stored: StoredMessage): void {
  world.events.publish({ type: 'message', message: shown(stored) });
}

/** The last messages of a chat, to be restored by a later start. */
export function savedOf(world: World, chatId: number, count: number): SavedMessage[] {
  const all = [...(world.messages.get(chatId)?.values() ?? [])].slice(-count);
  return all.map(({ chat: _chat, ...saved }) => saved);
}

/** Before the first message. New ids follow the restored ones. */
export function restore(world: World, chatId: number, saved: readonly SavedMessage[]): void {
  const chat = findChat(world, chatId);
  const ofChat = new Map(saved.map((each) => [each.message.message_id, { ...each, chat }]));
  world.messages.set(chatId, ofChat);
  world.nextMessageId = Math.max(world.nextMessageId, ...[...ofChat.keys()].map((id) => id + 1));
}

/** The oldest files beyond these bytes are forgotten, as the real server forgets what nobody fetched. */
const keptFileBytes = 256 * 1024 * 1024;

export function addFile(world: World, upload: UploadedFile): SimFile {
  const fileId = `SIM${randomBytes(18).toString('base64url')}`;
  const { fileName, contentType, data } = upload;
  const file = { fileId, fileName, contentType, bytes: data.length };
  world.filesAdded += 1;
  world.files.set(fileId, { file, path: `documents/file_${world.filesAdded}`, data });
  let bytes = [...world.files.values()].reduce((sum, each) => sum + each.data.length, 0);
  for (const [id, each] of world.files) {
    if (bytes <= keptFileBytes || id === fileId) break;
    world.files.delete(id);
    bytes -= each.data.length;
  }
  return file;
}

/** A message as the phone shows it. */
export function shown(stored: StoredMessage): SimMessage {
  const { message, chat, from, atMs, editedAtMs, reactions, file, forceReply } = stored;
  return {
    messageId: message.message_id,
    chatId: chat.id,
    ...(message.message_thread_id !== undefined && { threadId: message.message_thread_id }),
    from,
    at: atMs,
    ...(editedAtMs !== undefined && { editedAt: editedAtMs }),
    text: message.text ?? message.caption ?? '',
    entities: message.entities ?? message.caption_entities ?? [],
    buttons: shownButtons(message.reply_markup?.inline_keyboard),
    ...(forceReply && { forceReply: forceReply.input_field_placeholder ?? '' }),
    reactions: [...reactions],
    ...(message.reply_to_message && { replyTo: message.reply_to_message.message_id }),
    ...(message.media_group_id !== undefined && { album: message.media_group_id }),
    ...(file && { document: file }),
  };
}

export function wireChat(world: World, chat: SimChat): object {
  if (chat.type === 'private') {
    const { first_name, username } = world.owner;
    return { id: chat.id, first_name, ...(username && { username }), type: 'private' };
  }
  return { id: chat.id, title: chat.title, ...(chat.isForum && { is_forum: true }), type: chat.type };
}

function wireContent({ text, entities, keyboard, file, photo }: Content): object {
  const markup = wireKeyboard(keyboard);
  if (!file) return { text, ...(entities.length > 0 && { entities }), ...markup };
  const media = {
    file_id: file.fileId,
    file_unique_id: file.fileId.slice(0, 16),
    file_size: file.bytes,
  };
  return {
    ...(photo
      ? { photo: [{ ...media, width: 1280, height: 720 }] }
      : { document: { ...media, file_name: file.fileName, mime_type: file.contentType } }),
    ...(text && { caption: text }),
    ...(entities.length > 0 && { caption_entities: entities }),
    ...markup,
  };
}

function wireKeyboard(keyboard: Keyboard | undefined): object {
  return keyboard && keyboard.length > 0 ? { reply_markup: { inline_keyboard: keyboard } } : {};
}

function withoutReply(message: Message): object {
  const { reply_to_message: _reply, ...rest } = message;
  return rest;
}

function quoteOf(message: Message, quote: string): object {
  return { text: quote, position: Math.max(0, (message.text ?? '').indexOf(quote)), is_manual: true };
}
