// The methods of the Bot API that work on chats and messages. Each takes decoded parameters and returns the `result`.

import { readCaption, readPlacement, readText } from './content.ts';
import type { FloodGate } from './flood.ts';
import { readForceReply, readKeyboard } from './keyboard.ts';
import { arrayParam, flagParam, isUpload, numberParam, textParam } from './params.ts';
import { readReactions } from './reactions.ts';
import { badRequest, Refusal } from './refusal.ts';
import type { Params, SimFile, StoredMessage } from './types.ts';
import {
  addFile,
  addMessage,
  deleteMessage,
  editKeyboard,
  editText,
  findChat,
  findMessage,
  publish,
  type World,
  wireChat,
} from './world.ts';

/** May throw a `Refusal`, which becomes the answer. `signal` ends a method that waits. */
export type Method = (params: Params, signal: AbortSignal) => unknown;

const limits = {
  uploadBytes: 50 * 1024 * 1024,
  photoBytes: 10 * 1024 * 1024,
  downloadBytes: 20 * 1024 * 1024,
  answerCharacters: 200,
  topicName: 128,
  commands: 100,
  keptReactions: 50_000,
} as const;

const actions = new Set(
  `typing upload_photo record_video upload_video record_voice upload_voice upload_document choose_sticker
   find_location record_video_note upload_video_note`.split(/\s+/),
);
const topicColors = [7322096, 16766590, 13338331, 9367192, 16749490, 16478047];

export function messageMethods(world: World, flood: FloodGate): Record<string, Method> {
  const chatOf = (params: Params) => findChat(world, numberParam(params, 'chat_id'));

  const botMessage = (params: Params, missing: string): StoredMessage => {
    const stored = findMessage(world, chatOf(params).id, numberParam(params, 'message_id'));
    if (!stored) throw badRequest(missing);
    // Nor can one that was sent with a markup other than an inline keyboard.
    if (stored.from !== 'bot' || stored.forceReply) throw badRequest("message can't be edited");
    return stored;
  };

  const sendFile = (params: Params, field: string, maxBytes: number) => {
    const chat = chatOf(params);
    const caption = readCaption(params);
    const placement = readPlacement(world, chat, params);
    const keyboard = readKeyboard(params);
    const file = readFile(world, params, field, maxBytes);
    flood(chat);
    return addMessage(world, chat, 'bot', { ...caption, ...placement, keyboard, file, photo: field === 'photo' })
      .message;
  };

  return {
    getMe: () => ({
      ...world.bot,
      can_join_groups: true,
      can_read_all_group_messages: world.readsGroups,
      supports_inline_queries: false,
      has_topics_enabled: world.privateTopics,
    }),
    getChat: (params) => wireChat(world, chatOf(params)),
    getChatMember(params) {
      const chat = chatOf(params);
      const isBot = numberParam(params, 'user_id') === world.bot.id;
      if (!isBot) return { user: world.owner, status: chat.type === 'private' ? 'member' : 'creator' };
      return { user: world.bot, status: chat.botIsAdmin ? 'administrator' : 'member' };
    },

    sendMessage(params) {
      const chat = chatOf(params);
      const text = readText(params);
      const placement = readPlacement(world, chat, params);
      const keyboard = readKeyboard(params);
      const forceReply = readForceReply(params);
      flood(chat);
      return addMessage(world, chat, 'bot', { ...text, ...placement, keyboard, forceReply }).message;
    },
    sendDocument: (params) => sendFile(params, 'document', limits.uploadBytes),
    sendPhoto: (params) => sendFile(params, 'photo', limits.photoBytes),

    editMessageText(params) {
      const text = readText(params);
      const keyboard = readKeyboard(params, true);
      const stored = botMessage(params, 'message to edit not found');
      if (stored.file) throw badRequest('there is no text in the message to edit');
      const { text: oldText, entities = [], reply_markup } = stored.message;
      if (
        sameJson([text.text, text.entities, keyboard ?? []], [oldText, entities, reply_markup?.inline_keyboard ?? []])
      ) {
        throw notModified();
      }
      flood(stored.chat);
      editText(world, stored, { ...text, keyboard });
      return stored.message;
    },
    editMessageReplyMarkup(params) {
      const keyboard = readKeyboard(params, true) ?? [];
      const stored = botMessage(params, 'message to edit not found');
      if (sameJson(keyboard, stored.message.reply_markup?.inline_keyboard ?? [])) throw notModified();
      flood(stored.chat);
      editKeyboard(world, stored, keyboard);
      return stored.message;
    },
    deleteMessage(params) {
      const stored = findMessage(world, chatOf(params).id, numberParam(params, 'message_id'));
      if (!stored) throw badRequest('message to delete not found');
      deleteMessage(world, stored);
      return true;
    },
    setMessageReaction(params) {
      const reactions = readReactions(arrayParam(params, 'reaction') ?? []);
      const stored = findMessage(world, chatOf(params).id, numberParam(params, 'message_id'));
      if (!stored) throw badRequest('message to react not found');
      stored.reactions = reactions;
      const { message, chat } = stored;
      const emoji = reactions[0] ?? null;
      world.reactions.push({ chatId: chat.id, messageId: message.message_id, emoji, at: performance.now() });
      if (world.reactions.length > limits.keptReactions) world.reactions.shift();
      publish(world, stored);
      return true;
    },

    sendChatAction(params) {
      const chat = chatOf(params);
      const action = textParam(params, 'action');
      if (!actions.has(action)) throw badRequest('wrong parameter action in request');
      readPlacement(world, chat, params);
      world.events.publish({ type: 'typing', chatId: chat.id, action });
      return true;
    },
    answerCallbackQuery(params) {
      const queryId = textParam(params, 'callback_query_id');
      const text = textParam(params, 'text');
      if (text.length > limits.answerCharacters) throw badRequest('MESSAGE_TOO_LONG');
      if (!world.openPresses.delete(queryId)) {
        throw badRequest('query is too old and response timeout expired or query ID is invalid');
      }
      world.events.publish({ type: 'answered', queryId, text, alert: flagParam(params, 'show_alert') });
      return true;
    },

    createForumTopic(params) {
      const chat = chatOf(params);
      const name = textParam(params, 'name');
      const iconColor = numberParam(params, 'icon_color') ?? topicColors[0];
      if (name.length < 1 || name.length > limits.topicName) throw badRequest('TOPIC_TITLE_INVALID');
      if (!topicColors.includes(iconColor as number)) throw badRequest('TOPIC_ICON_COLOR_INVALID');
      if (!chat.isForum && !(chat.type === 'private' && world.privateTopics))
        throw badRequest('the chat is not a forum');
      const threadId = world.nextMessageId++;
      chat.topics.set(threadId, name);
      return { message_thread_id: threadId, name, icon_color: iconColor };
    },
    setMyCommands(params) {
      world.commands.set(listOfCommands(params), readCommands(arrayParam(params, 'commands') ?? []));
      return true;
    },
    getMyCommands: (params) => world.commands.get(listOfCommands(params)) ?? [],
    deleteMyCommands(params) {
      world.commands.delete(listOfCommands(params));
      return true;
    },

    getFile(params) {
      const entry = world.files.get(textParam(params, 'file_id'));
      if (!entry) throw badRequest('invalid file_id');
      const { file, path } = entry;
      if (file.bytes > limits.downloadBytes) throw badRequest('file is too big');
      return { file_id: file.fileId, file_unique_id: file.fileId.slice(0, 16), file_size: file.bytes, file_path: path };
    },
  };
}

function readFile(world: World, params: Params, field: string, maxBytes: number): SimFile {
  const given = params[field];
  const attached = typeof given === 'string' && given.startsWith('attach://') ? params[given.slice(9)] : given;
  if (isUpload(attached)) {
    if (attached.data.length > maxBytes) throw new Refusal(413, 'Request Entity Too Large');
    if (attached.data.length === 0) throw badRequest('file must be non-empty');
    return addFile(world, attached);
  }
  if (typeof attached !== 'string' || attached === '') throw badRequest(`there is no ${field} in the request`);
  const known = world.files.get(attached);
  if (!known) throw badRequest('wrong file identifier/HTTP URL specified');
  return known.file;
}

/** Each scope has a list for each language, and one for the rest. */
function listOfCommands({ scope, language_code: language = '' }: Params): string {
  if (language !== '' && !/^[a-z]{2}$/.test(String(language))) throw badRequest('LANGUAGE_CODE_INVALID');
  return JSON.stringify([scope ?? { type: 'default' }, language]);
}

function readCommands(raw: unknown[]): { command: string; description: string }[] {
  if (raw.length > limits.commands) throw badRequest('BOT_COMMANDS_TOO_MUCH');
  return raw.map((value) => {
    const { command, description } = (value ?? {}) as Record<string, unknown>;
    if (typeof command !== 'string' || !/^[a-z0-9_]{1,32}$/.test(command)) throw badRequest('BOT_COMMAND_INVALID');
    if (typeof description !== 'string' || description.length < 1 || description.length > 256) {
      throw badRequest('BOT_COMMAND_DESCRIPTION_INVALID');
    }
    return { command, description };
  });
}

function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function notModified(): Refusal {
  return badRequest(
    'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message',
  );
}
