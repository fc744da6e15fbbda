// The part of the relay's HTTP API about its accounts at the platforms: what they say, and where they deliver. Prose: README.md.

import * as v from 'valibot';
import type { ErrorCode } from './errors.ts';

/** What a platform says of an account of the relay: its webhook, its rights, its chats. Nothing secret. */
export type Inspection =
  | { kind: 'failed'; code: ErrorCode; reason: string; repair: string }
  | {
      kind: 'report';
      username: string | null;
      /** Whether private chats can have topics. */
      topics: boolean;
      webhook: WebhookReport;
      /** What keeps the account from hearing or reaching a chat, in words for people. */
      troubles: { what: string; repair: string }[];
    };

export interface WebhookReport {
  /** Null = the platform sends to no webhook. The whole address may be the secret of another program. */
  host: string | null;
  /** The path that the relay listens at, and whether the webhook has it. */
  route: string;
  isRoute: boolean;
  /** Updates that the platform could not deliver yet. */
  pending: number;
  /** The last failed delivery, epoch milliseconds. */
  lastError: { at: number; reason: string } | null;
  /** Kinds of update that the relay needs and the platform does not send. */
  missing: string[];
}

export interface WebhookAnswer {
  /** The relay's clock, epoch milliseconds. */
  now: number;
  platforms: { name: string; account: string; inspection: Inspection }[];
}

/** Which secret the platform shall present: `next` is one that the relay accepts as well, during a change. */
export const rehomeRequestSchema = v.object({
  secret: v.optional(v.picklist(['current', 'next']), 'current'),
  /** SHA-256 (hex) of that secret, when the caller has just set it: an instance that does not have it yet refuses. */
  sha256: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))),
});

export type RehomeRequest = v.InferInput<typeof rehomeRequestSchema>;

export interface RehomeAnswer {
  /** `url` = where each platform delivers now, as the platform itself says. */
  platforms: { name: string; url: string; pending: number }[];
}
