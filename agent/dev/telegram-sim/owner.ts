// The actions of the owner on the phone: type, edit, tap. Builds the update that Telegram would build, and queues it.

import { randomBytes } from 'node:crypto';
import { WaError } from '../../../protocol/errors.ts';
import { textLimits, trimmed, withDetected } from './entities.ts';
import type { StoredMessage, UploadedFile } from './types.ts';
import { addFile, addMessage, editText, findMessage, type World } from './world.ts';

export interface SayOptions {
  /** Default: the private chat. */
  chatId?: number;
  threadId?: number;
  /** The message that is answered, and the quoted part. */
  replyTo?: number;
  quote?: string;
  file?: UploadedFile;
  /** The file is sent as a photo, without its name. */
  photo?: boolean;
  /** The parts of an album have the same one. */
  album?: string;
}

/** Each resolves after the first attempt to deliver the update; at once while retries of its queue are waiting. */
export interface OwnerActions {
  /** The owner sends a message. Returns its id; a text over the limit becomes several messages, as on a phone. */
  say(text: string, options?: SayOptions): Promise<number>;
  /** The owner edits an own message. */
  edit(messageId: number, text: string, chatId?: number): Promise<void>;
  /** The owner taps an inline button. Returns the id of the query, which the bot's answer names. */
  press(messageId: number, label: string, chatId?: number): Promise<string>;
  /** The owner deletes a topic with all of its messages. The bot gets no update. */
  deleteTopic(threadId: number, chatId?: number): void;
  /** The owner lets the bot make topics in the private chat, at @BotFather. */
  allowPrivateTopics(): void;
}

/** `send` queues an update. @throws {WaError} bad_arguments for an action that a phone does not offer. */
export function ownerActions(world: World, send: (update: object) => Promise<void>): OwnerActions {
  const ownerId = world.owner.id;
  const messageOrThrow = (chatId: number, messageId: number): StoredMessage => {
    const stored = findMessage(world, chatId, messageId);
    if (!stored) throw new WaError('bad_arguments', `no message ${messageId} in chat ${chatId}`);
    return stored;
  };
  return {
    async say(text, { chatId = ownerId, file, photo = false, ...placement } = {}) {
      const chat = world.chats.get(chatId);
      if (!chat) throw new WaError('bad_arguments', `no chat ${chatId}`);
      const typed = text.trim();
      if (typed === '' && !file) throw new WaError('bad_arguments', 'a message needs a text');
      const [first, ...rest] = splitTyped(typed).map((part, index) =>
        addMessage(world, chat, 'owner', {
          ...withDetected({ text: part, entities: [] }),
          ...placement,
          ...(file && index === 0 && { file: addFile(world, file), photo }),
        }),
      ) as [StoredMessage, ...StoredMessage[]];
      await Promise.all([first, ...rest].map(({ message }) => send({ message })));
      return first.message.message_id;
    },
    async edit(messageId, text, chatId = ownerId) {
      const stored = messageOrThrow(chatId, messageId);
      if (stored.from !== 'owner') throw new WaError('bad_arguments', `message ${messageId} is not the owner's`);
      editText(world, stored, withDetected(trimmed({ text, entities: [] })));
      await send({ edited_message: stored.message });
    },
    async press(messageId, label, chatId = ownerId) {
      const { message } = messageOrThrow(chatId, messageId);
      const button = (message.reply_markup?.inline_keyboard ?? []).flat().find(({ text }) => text === label);
      if (!button || !('callback_data' in button)) {
        throw new WaError('bad_arguments', `message ${messageId} has no button "${label}" to press`);
      }
      const id = `${world.bot.id}${randomBytes(4).readUInt32BE()}`;
      world.openPresses.add(id);
      const { callback_data: data } = button;
      await send({ callback_query: { id, from: world.owner, message, chat_instance: `-${chatId}`, data } });
      return id;
    },
    deleteTopic(threadId, chatId = ownerId) {
      if (!world.chats.get(chatId)?.topics.delete(threadId)) {
        throw new WaError('bad_arguments', `no topic ${threadId} in chat ${chatId}`);
      }
      const messages = world.messages.get(chatId) ?? new Map<number, StoredMessage>();
      for (const [id, { message }] of messages) if (message.message_thread_id === threadId) messages.delete(id);
    },
    allowPrivateTopics() {
      world.privateTopics = true;
    },
  };
}

/** A phone sends a long text as several messages and never cuts a character in two. */
function splitTyped(text: string): string[] {
  const parts: string[] = [];
  let rest = text;
  while (rest.length > textLimits.textUnits) {
    const last = rest.charCodeAt(textLimits.textUnits - 1);
    const cut = textLimits.textUnits - (last >= 0xd800 && last <= 0xdbff ? 1 : 0);
    parts.push(rest.slice(0, cut));
    rest = rest.slice(cut);
  }
  return [...parts, rest];
}
