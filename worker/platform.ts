// The seam to the chat platform: what comes in and what goes out, in words that no platform owns.
// The queue and the mailbox know this file only; worker/telegram/ is one implementation.

import type { ErrorCode } from '../protocol/errors.ts';
import type { Forwarded, PhoneFile } from '../protocol/log.ts';
import type { TextEntity } from '../protocol/relay-api.ts';

/** What an update means. Texts are the owner's words, not yet read as commands. */
export type InboundEvent = {
  /** Unique per delivery of the platform; a repeated one is dropped. */
  dedupeKey: string;
  /** Topic id or 0. */
  project: number;
  /** When the phone sent it, epoch milliseconds. */
  at: number;
} & (
  | {
      kind: 'message';
      /** The platform's id of the message in its chat. */
      ref: string;
      text: string;
      /** The text with links and code as Markdown, where it says more; commands are read in the text alone. */
      markdown?: string;
      quote?: string;
      /** Absent = somebody else's words. */
      quoteFrom?: 'agent' | 'owner';
      /** The text is somebody else's. */
      forwarded?: Forwarded;
      /** The platform's id of the message that is answered, when it is one of this chat. */
      answersRef?: string;
      userId?: string;
      /** Parts with one album id are one message. */
      album?: string;
      /** By the platform's own ids; what is too large to fetch is in `tooLarge`, and the text says so. */
      files?: PhoneFile[];
      tooLarge?: { name: string; bytes: number }[];
    }
  | { kind: 'edit'; ref: string; text: string; markdown?: string; forwarded?: Forwarded; album?: string }
  | {
      kind: 'button';
      /** The id that the relay issued for the button. */
      buttonId: string;
      /** What the platform wants to have acknowledged. */
      queryRef: string;
      userId: string;
    }
  | { kind: 'migrated'; toChatId: string }
);

type IgnoredReason = 'unreadable' | 'unknown' | 'service';

export type Decoded =
  | { ok: true; chatId: string; userId: string | null; event: InboundEvent }
  | { ok: false; reason: IgnoredReason };

export interface Capabilities {
  edit: boolean;
  reactions: boolean;
  topics: boolean;
  buttons: boolean;
  /** UTF-16 units of one message. */
  maxText: number;
}

export interface OutboundButton {
  label: string;
  id: string;
  style?: 'danger' | 'success' | 'primary';
}

export interface OutboundText {
  text: string;
  entities: TextEntity[];
  buttons: OutboundButton[][];
}

/** Where a phone message is, as one mark on it. */
export type Reaction = 'seen' | 'working' | 'done' | 'failed';

/** One call of the platform's API. */
export type OutboundCall =
  | ({ kind: 'send'; chatId: string; topic: number; replyToRef?: string } & OutboundText)
  | ({ kind: 'edit'; chatId: string; ref: string } & OutboundText)
  /** Replaces the buttons below a message. */
  | { kind: 'buttons'; chatId: string; ref: string; buttons: OutboundButton[][] }
  /** Replaces the bot's reaction. */
  | { kind: 'react'; chatId: string; ref: string; reaction: Reaction }
  | { kind: 'acknowledge'; queryRef: string; text: string };

/** What a call can be repeated without when the platform refused exactly that. */
export type Droppable = 'entities' | 'topic' | 'target' | 'reply';

export type SendOutcome =
  /** `ref` = the platform's id of the new message. */
  | { kind: 'sent'; ref?: string }
  /** Backoff of the queue; `uncertain` = the call may have taken effect. */
  | { kind: 'retry'; code: string; reason: string; uncertain?: true }
  /** Nothing goes to this chat before that time, however long. */
  | { kind: 'pause'; afterMs: number; code: string; reason: string }
  | { kind: 'without'; what: Droppable; reason: string }
  | { kind: 'dead'; code: string; reason: string }
  | { kind: 'migrate'; chatId: string };

/** A file of the phone, as a stream; null = the platform does not say how long. */
export type OpenedFile =
  | { kind: 'open'; body: ReadableStream<Uint8Array>; bytes: number | null }
  | { kind: 'failed'; code: ErrorCode; reason: string; afterMs?: number };

/** Where a document goes, and the document as it comes. */
export interface OutboundDocument {
  chatId: string;
  topic: number;
  replyToRef?: string;
  name: string;
  caption: string;
  bytes: number;
  body: ReadableStream<Uint8Array>;
}

/**
 * A platform must decode anything without throwing, must report every failure of a call as an outcome and never throw,
 * and must not retry by itself.
 */
export interface Platform {
  readonly name: string;
  readonly capabilities: Capabilities;
  /** Groups have a slower rate. */
  isGroup(chatId: string): boolean;
  decode(update: unknown): Decoded;
  call(call: OutboundCall): Promise<SendOutcome>;
  /** The name by which groups address the bot; null when the platform does not tell. */
  ownName(): Promise<string | null>;
  /** Must not buffer, and must not give away what the platform is asked with. */
  openFile(fileId: string): Promise<OpenedFile>;
  /** Must not buffer. */
  sendDocument(document: OutboundDocument): Promise<SendOutcome>;
  /** May fail silently: it is shown for seconds. */
  showTyping(chatId: string, topic: number): Promise<void>;
}
