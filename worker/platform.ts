// The seam to a chat platform: what comes in and what goes out, in words that no platform owns.
// Routes, queue and mailbox know this file only; `platforms.ts` lists the implementations.

import type { ErrorCode } from '../protocol/errors.ts';
import type { Forwarded, PhoneFile } from '../protocol/log.ts';
import type { Capabilities } from '../protocol/phone.ts';
import type { TextEntity } from '../protocol/relay-api.ts';
import type { RelayVariables } from '../protocol/relay-settings.ts';
import type { Inspection } from '../protocol/webhook-api.ts';

/** What happened on the phone. Texts are the owner's words, not yet read as commands. */
export type InboundEvent = {
  /** Unique per event of the platform, the same in a repeated delivery, which is dropped. */
  dedupeKey: string;
  /** Topic id or 0. */
  project: number;
  /** When the phone sent it, epoch milliseconds. */
  at: number;
  /** Of its author's phone, as BCP 47 writes it; absent = the platform does not tell. */
  language?: string;
} & (
  | {
      kind: 'message';
      /** The platform's id of the message in its chat. */
      ref: string;
      text: string;
      /** The text with links and code as Markdown, where it says more; commands are read in the text alone. */
      markdown?: string;
      quote?: string;
      /** Absent = another author. */
      quoteFrom?: 'agent' | 'owner';
      /** Set when the text has another author. */
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
      /** The platform's id of the message with the button. */
      ref: string;
      /** The id of the tap, which the platform wants to have acknowledged. */
      queryRef: string;
      userId: string;
    }
  | { kind: 'migrated'; toChatId: string }
  /** The delivery status of a message that the platform had taken; `ref` = the one of its `sent`. */
  | { kind: 'delivery'; ref: string; outcome: { kind: 'arrived' } | { kind: 'dead'; code: string; reason: string } }
);

/** One event of an update. `userId` = its author, null when the platform names none; a delivery status has no author. */
export type Decoded =
  | { ok: true; chatId: string; userId: string | null; event: InboundEvent }
  | { ok: false; reason: 'unreadable' | 'unknown' | 'service' };

/** A token bucket: so many calls at once, then one more each `refillMs`. */
export interface Rate {
  capacity: number;
  refillMs: number;
}

/** The buckets by name; a call takes one token of each. */
export type Rates = Readonly<Record<string, Rate>>;

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

/** Opens the field in which the message is answered; only where `replyField` says so, and below a new message without buttons. */
export interface ReplyField {
  /** Shown while the field is empty; '' = nothing. */
  hint: string;
}

/** Where a phone message is, as one mark on it. */
export type Reaction = 'seen' | 'working' | 'done' | 'failed';

/** One call of the platform's API. */
export type OutboundCall =
  | ({ kind: 'send'; chatId: string; topic: number; replyToRef?: string; replyField?: ReplyField } & OutboundText)
  | ({ kind: 'edit'; chatId: string; ref: string } & OutboundText)
  /** Replaces the buttons below a message. */
  | { kind: 'buttons'; chatId: string; ref: string; buttons: OutboundButton[][] }
  /** Replaces the bot's reaction. */
  | { kind: 'react'; chatId: string; ref: string; reaction: Reaction }
  | { kind: 'acknowledge'; queryRef: string; text: string }
  /** The commands that the phone offers in this chat. */
  | { kind: 'menu'; chatId: string; commands: readonly { name: string; help: string }[] };

/** A part of a call that can be left out when the platform refused exactly that part. */
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

/** Which of the secrets that `isCaller` accepts; `sha256` (hex) = the caller knows the secret, and another one is `misconfigured`. */
export interface PlatformSecret {
  use: 'current' | 'next';
  sha256: string | undefined;
}

/** `url` = where the platform itself says that it delivers; `pending` = events that wait there. */
export type Adoption =
  | { kind: 'adopted'; url: string; pending: number }
  | { kind: 'failed'; code: ErrorCode; reason: string; hint?: string; afterMs?: number };

export type TopicOutcome =
  | { kind: 'made'; topic: number }
  /** `no_topics`: the chat has none, and the hint says how it gets them. */
  | { kind: 'failed'; code: ErrorCode; reason: string; hint?: string; afterMs?: number };

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

/** A kind of platform, before the settings of this relay are read. */
export interface PlatformKind {
  /** As `/v1/status` names it. */
  readonly name: string;
  /** Path of its webhook. */
  readonly route: string;
  /** Must read no other setting than the secret, or both during a change of it, must refuse every caller while it is not set, and must compare in constant time. */
  isCaller(variables: RelayVariables, headers: Headers, body: () => Promise<string>): Promise<boolean>;
  /** Must raise `misconfigured`, naming the setting. `clock` is for updates that carry no time. */
  connect(variables: RelayVariables, clock: () => number): Platform;
}

/**
 * The account of this relay at a platform. Must decode anything without throwing, must report every failure of a call as an
 * outcome and never throw, and must not retry by itself.
 */
export interface Platform {
  readonly name: string;
  /** Its own id there, `[A-Za-z0-9_-]+`; a part of the names of its mailboxes. */
  readonly account: string;
  /** The mailboxes that it serves, and who may speak in them. */
  readonly chatIds: readonly string[];
  readonly userIds: ReadonlySet<string>;
  /** The setting that lists the chats, for hints. */
  readonly chatSetting: string;
  readonly capabilities: Capabilities;
  /** The user of a private chat; null = a group. */
  ownerOf(chatId: string): string | null;
  /** The rates of a call that shows something in the chat; null = the call shows nothing. */
  ratesOf(chatId: string | null): Rates;
  /** The events of one update, in order. */
  decode(update: unknown): readonly Decoded[];
  call(call: OutboundCall): Promise<SendOutcome>;
  /** Whether the chat has topics; null when the platform does not tell. */
  hasTopics(chatId: string): Promise<boolean | null>;
  createTopic(chatId: string, name: string): Promise<TopicOutcome>;
  /** What the platform says of webhook, rights and chats. Must call no chat that the settings do not list. */
  inspect(): Promise<Inspection>;
  /** The name by which groups address the bot; null when the platform does not tell. */
  botUsername(): Promise<string | null>;
  /** Must not buffer, and must not reveal the credentials of the platform. */
  openFile(fileId: string): Promise<OpenedFile>;
  /** Must not buffer. */
  sendDocument(document: OutboundDocument): Promise<SendOutcome>;
  /** Has the platform deliver to this origin, with that secret. Must ask the platform whether it does, and must not drop what waits there. */
  adoptHost(origin: string, secret: PlatformSecret): Promise<Adoption>;
  /** May fail silently: it is shown for seconds. */
  showTyping(chatId: string, topic: number): Promise<void>;
}
