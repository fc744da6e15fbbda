// The types of the simulated Telegram that a test or the phone page sees. Types only.

import type { InlineKeyboardButton, Message, MessageEntity } from 'grammy/types';

/** One request that reached the Bot API. `status` 0 = the caller never got an answer (hang, reset). */
export interface ApiCall {
  id: number;
  /** Epoch milliseconds. */
  at: number;
  method: string;
  /** Parameters after decoding; an uploaded file appears as `{fileName, bytes, contentType}`. */
  params: Record<string, unknown>;
  answer: { status: number; body: unknown };
}

/** A scripted result of one of the next calls. */
export interface ApiFailure {
  /** Any method when absent. */
  method?: string;
  /** How many calls; 1 when absent. */
  times?: number;
  status?: number;
  headers?: Record<string, string>;
  /** An object is sent as JSON, a string as it is (HTML). */
  body?: unknown;
  /** Never answered; the connection stays open until the caller gives up or the simulator closes. */
  hang?: true;
  /** The socket is destroyed. */
  reset?: true;
  /** The call takes effect, only its answer is lost. */
  afterEffect?: true;
}

export interface SimChat {
  id: number;
  type: 'private' | 'group' | 'supergroup';
  title?: string;
  isForum?: true;
  /** Topic id -> name. */
  topics: Map<number, string>;
}

export interface SimButton {
  label: string;
  data?: string;
  url?: string;
  style?: string;
}

/** One message as the phone shows it now. */
export interface SimMessage {
  messageId: number;
  chatId: number;
  threadId?: number;
  from: 'bot' | 'owner';
  /** Epoch milliseconds. */
  at: number;
  editedAt?: number;
  text: string;
  entities: MessageEntity[];
  buttons: SimButton[][];
  /** Emoji that the bot put on it. */
  reactions: string[];
  replyTo?: number;
  /** The parts of an album have the same one. */
  album?: string;
  document?: SimFile;
}

/** The bot put it on a message. */
export interface PhoneReaction {
  chatId: number;
  messageId: number;
  /** Null = taken away. */
  emoji: string | null;
  /** `performance.now()` of this process. */
  at: number;
}

export interface SimFile {
  fileId: string;
  fileName: string;
  contentType: string;
  bytes: number;
}

/** A stored message: the wire form, and the fields that the wire form lacks. */
export interface StoredMessage {
  message: Message;
  chat: SimChat;
  from: 'bot' | 'owner';
  atMs: number;
  editedAtMs?: number;
  reactions: string[];
  file?: SimFile;
}

/** A message as it is kept over a restart: without its chat, and without the bytes of its file. */
export type SavedMessage = Omit<StoredMessage, 'chat'>;

export interface UploadedFile {
  fileName: string;
  contentType: string;
  data: Uint8Array;
}

/** Decoded parameters: strings as they came in a form, anything JSON knows, or an uploaded file. */
export type Params = Record<string, unknown>;

export type Keyboard = InlineKeyboardButton[][];
