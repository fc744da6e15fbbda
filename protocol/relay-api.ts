// The relay's HTTP API: requests are schemas (checked once, at the edge), answers are types. Prose: README.md.

import * as v from 'valibot';
import type { DayShare, DayUse } from './free-plan.ts';
import { relayLimits } from './limits.ts';
import type { ControlRow, KeyEnd, Row } from './log.ts';
import type { Phone } from './phone.ts';
import type { ReceiptState } from './receipts.ts';
import { reportedStates } from './receipts.ts';
import { doings, type Standing, standingLimits } from './standing.ts';

const safeInteger = v.pipe(v.number(), v.safeInteger());
const count = v.pipe(safeInteger, v.minValue(0));
/** Chat id as text: some platforms have signed integers, others do not. */
const mailbox = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_+-]{1,64}$/));
const project = count;

const receiptSchema = v.object({
  id: v.pipe(v.string(), v.maxLength(96)),
  attempt: count,
  state: v.picklist(reportedStates),
  at: safeInteger,
});

const text = (max: number) => v.pipe(v.string(), v.maxLength(max));
const name = text(standingLimits.name);
const session = text(standingLimits.session);

const standingSchema: v.GenericSchema<Standing> = v.object({
  machine: name,
  folder: name,
  version: name,
  zone: text(standingLimits.zone),
  agent: v.exactOptional(name),
  session: v.exactOptional(session),
  owned: v.exactOptional(name),
  doing: v.picklist(doings),
  sinceAt: count,
  dialog: v.exactOptional(text(standingLimits.dialog)),
  asked: count,
  waiting: count,
  away: v.boolean(),
  present: v.exactOptional(v.boolean()),
  approvals: name,
  follow: v.exactOptional(name),
  sprint: v.exactOptional(v.strictObject({ done: count, tasks: count })),
  usage: v.pipe(
    v.array(
      v.object({
        session,
        agent: name,
        turns: count,
        tokens: v.exactOptional(count),
        context: v.exactOptional(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
      }),
    ),
    v.maxLength(standingLimits.sessions),
  ),
});

export const pollRequestSchema = v.object({
  mailbox,
  project,
  /** The storage epoch that `after` belongs to; null before the first answer. */
  epoch: v.nullable(v.pipe(v.string(), v.maxLength(32))),
  /** The highest seq whose journal line is fsynced; null when the state was lost. */
  after: v.nullable(count),
  holdMs: v.pipe(count, v.maxValue(relayLimits.holdQuietMs)),
  daemon: v.object({ id: v.pipe(v.string(), v.minLength(8), v.maxLength(64)), startedAt: count }),
  receipts: v.optional(v.pipe(v.array(receiptSchema), v.maxLength(relayLimits.pollReceipts)), []),
  /** Where the project stands, when that changed since the last poll that was answered. */
  standing: v.exactOptional(standingSchema),
});

export type PollRequest = v.InferOutput<typeof pollRequestSchema>;

export interface PollAnswer {
  epoch: string;
  /** The relay's clock, epoch milliseconds. */
  now: number;
  /** seq > after, in order, at most `pollWindowBytes`. */
  rows: Row[];
  /** Every control above `after`, also beyond the window of `rows`. */
  controls: ControlRow[];
  cursor: number;
  /** The phone at the other end, as it is now. */
  phone: Phone;
  /** Set while the day's share of the free plan runs out. */
  slow?: SlowDown;
}

/** How a daemon polls while nothing comes; every other poll is as before. */
export interface SlowDown {
  /** At least this long is each poll held. */
  holdMs: number;
  /** The pause after an empty answer. */
  pollAfterMs: number;
}

/** Offset and length in UTF-16 code units. */
const entitySchema = v.object({
  type: v.pipe(v.string(), v.maxLength(32)),
  offset: count,
  length: v.pipe(safeInteger, v.minValue(1)),
  url: v.optional(v.pipe(v.string(), v.maxLength(2048))),
  language: v.optional(v.pipe(v.string(), v.maxLength(64))),
});

export type TextEntity = v.InferOutput<typeof entitySchema>;

const partSchema = v.object({
  text: v.pipe(v.string(), v.minLength(1), v.maxLength(relayLimits.partUnits)),
  entities: v.optional(v.pipe(v.array(entitySchema), v.maxLength(100)), []),
});

/** One message on the phone. */
export type TextPart = v.InferOutput<typeof partSchema>;

const buttonSchema = v.object({
  label: v.pipe(v.string(), v.minLength(1), v.maxLength(64)),
  /** Given back in the `button` control when pressed; the relay issues its own opaque callback id for it. */
  action: v.pipe(v.string(), v.minLength(1), v.maxLength(512)),
  style: v.optional(v.picklist(['danger', 'success', 'primary'])),
  /** What the phone shows for a moment after the tap. Default: that it was recorded. */
  toast: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(100))),
  /** The tap takes the buttons of the message away. */
  once: v.optional(v.literal(true)),
});

/** In the order in which they are sent; FIFO inside a class. */
export const outboxClasses = ['reply', 'approval', 'answer', 'progress'] as const;

const key = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{8,64}$/));

export const outboxItemSchema = v.object({
  /** Idempotency key: SHA-256 (hex) of the UTF-8 bytes of `identityOf(entry)` for entries of the outbox file, a UUID for an item that is in no file. */
  key,
  class: v.picklist(outboxClasses),
  parts: v.pipe(v.array(partSchema), v.minLength(1), v.maxLength(relayLimits.outboxParts)),
  /** Below the last part. */
  buttons: v.optional(v.pipe(v.array(v.pipe(v.array(buttonSchema), v.maxLength(4))), v.maxLength(8))),
  /** A message id of the log; the first part replies to it when the phone still has the message. */
  replyTo: v.optional(v.pipe(v.string(), v.maxLength(96))),
  /** The phone's answer to this message comes back as a `reply` control with this action, once. Single part only. */
  replyAction: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(512))),
  /** What the field for that answer shows while it is empty, where the platform opens one. */
  replyHint: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(64))),
  /** Edited in place: one phone message per slot, the highest rev wins. Single part only. */
  slot: v.optional(v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/))),
  rev: v.optional(count),
});

export type OutboxItem = v.InferOutput<typeof outboxItemSchema>;

export const outboxRequestSchema = v.object({
  mailbox,
  project,
  items: v.pipe(v.array(outboxItemSchema), v.minLength(1), v.maxLength(relayLimits.outboxItemsPerCall)),
});

export type OutboxRequest = v.InferOutput<typeof outboxRequestSchema>;

export type KeyState = 'queued' | 'sending' | 'sent' | 'dead';

/** Of a posted key: where it stands, with its end when it was known before. */
export type OutboxOutcome = KeyEnd | { key: string; state: 'queued' | 'sending' };

export function isEnd(outcome: OutboxOutcome): outcome is KeyEnd {
  return outcome.state === 'sent' || outcome.state === 'dead';
}

export interface OutboxAnswer {
  /** The storage that has the keys now. */
  epoch: string;
  items: OutboxOutcome[];
}

/** Of `POST /v1/files`: a document has its outcome at once. */
export interface DocumentAnswer {
  items: KeyEnd[];
}

export interface ProjectStatus {
  project: number;
  daemonId: string | null;
  /** Null before the first poll. */
  lastSeenAt: number | null;
  cursor: number;
  /** How many messages stand at each state of the ladder; states at zero are left out. */
  ladder: Partial<Record<ReceiptState, number>>;
  oldestWaitingAt: number | null;
  /** How many dead letters the owner has not dealt with. */
  deadLetters?: number;
  /** The name of its topic, when this relay made the topic. */
  topic?: string;
  /** What its daemon told last, and when. */
  standing?: Standing & { at: number };
}

export interface MailboxStatus {
  mailbox: string;
  epoch: string;
  projects: ProjectStatus[];
  outbox: Record<KeyState, number>;
  /** Whether the chat has topics; null = not known yet. */
  topics: boolean | null;
  /** What the mailbox has cost since midnight UTC. */
  today: DayUse;
  /** Set while nothing is sent to the phone: an error code, and until when. */
  paused?: { code: string; untilAt: number };
}

export interface StatusAnswer {
  version: string;
  now: number;
  /** `account` = the relay's own id there. */
  platforms: { name: string; account: string }[];
  mailboxes: MailboxStatus[];
  /** Of all mailboxes, beside the limits of Cloudflare's free plan. */
  today: DayShare;
}

/** A message that could not be delivered, kept with its reason. */
export interface DeadLetter {
  /** Inbound: the message id. Outbound: the idempotency key. */
  id: string;
  direction: 'in' | 'out';
  project: number;
  /** When it was sent or accepted. */
  at: number;
  /** Inbound: `expired`, `failed`, `lost`, `refused`, or `delivered` while the workstation is away. Outbound: `dead`. */
  state: string;
  error?: { code: string; reason: string };
  /** Its first words, for the owner's own eyes. */
  preview: string;
}

export interface DeadLettersAnswer {
  deadLetters: DeadLetter[];
}

/** The query of `POST /v1/files`; its body is the document. */
export const documentQuerySchema = v.object({
  mailbox,
  project,
  key,
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(255)),
  /** As long as the platform takes below a document. */
  caption: v.optional(v.pipe(v.string(), v.maxLength(1024)), ''),
  replyTo: v.optional(v.pipe(v.string(), v.maxLength(96))),
});

export type DocumentQuery = v.InferOutput<typeof documentQuerySchema>;

export const topicRequestSchema = v.object({
  mailbox,
  /** What people read in the list of topics. */
  name: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(128)),
});

export interface TopicAnswer {
  /** The number of the topic, which is the number of the project. */
  project: number;
}

/** The query of a call without a body. */
export const addressSchema = v.object({ mailbox, project });

export const deadLetterActionSchema = v.object({ mailbox, project, action: v.picklist(['retry', 'drop']) });

export type DeadLetterAction = v.InferOutput<typeof deadLetterActionSchema>;
