// Rows of the tables that the cache remembers too.

import type { Row } from '../../../protocol/log.ts';
import type { ReceiptState } from '../../../protocol/receipts.ts';

export type ProjectRow = {
  project: number;
  daemon_id: string | null;
  daemon_started_at: number | null;
  last_seen_at: number | null;
  /** Until when a parked poll may still be there. */
  present_until_at: number | null;
  cursor: number;
  /** Everything at or below is known to be expired or was below the cursor. */
  expired_to: number;
  /** Every message at or below this seq shows the reaction of its state on the phone, or needs none. */
  shown_to: number;
  /** Set while the phone knows that the workstation is away, with the cursor of that time. */
  away_told_at: number | null;
  away_cursor: number | null;
  /** Messages that expired since the phone was told last. */
  expired_untold: number;
  expired_told_at: number | null;
  /** JSON `[{at, cursor}]`: where the cursor stood at past cleanings. */
  passed: string;
  /** JSON of `Counts`. */
  counters: string;
  /** JSON of `DayUse`, of the day on which it was written last. */
  today: string | null;
  /** JSON of `Standing`, as the daemon told it last, and when. */
  standing: string | null;
  standing_at: number | null;
  /** The name of the topic that this relay made. */
  topic: string | null;
  /** Since when the topic is known to be gone: what goes there goes to the main chat. */
  topic_gone_at: number | null;
};

export type LogRow = {
  project: number;
  seq: number;
  at: number;
  stored_at: number;
  kind: Row['kind'];
  /** The platform's id of the phone message. */
  ref: string;
  /** JSON: the row without seq, id, at and kind. Kept when it expires: a retry needs the text. */
  body: string;
  expires_at: number | null;
  /** Null until a receipt or the expiry: then the cursor tells stored from delivered. */
  state: ReceiptState | null;
  state_at: number | null;
  attempt: number;
  /** The reaction that the phone shows; `noReaction` = the message takes no reaction any more. */
  shown: string | null;
  /** 1 = the owner has retried or dropped the dead letter. */
  dlq_done: 0 | 1;
};

/** The text of each part of an album by the platform's id of it; never on the wire. */
export type AlbumTexts = [ref: string, text: string][];
