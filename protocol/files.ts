// The two files as other programs see them: entries, identity, merge winner. Pure; the hooks bundle it.

/** Where a project keeps the two files, its policy and its audit, whichever coding agent works there; all their names begin with `wa_`. */
export const mailboxFolder = '.gemini';

/** Fields that the contract fixes, the optional ones that we add, and whatever others wrote. */
interface EntryBase {
  id: string;
  /** ISO 8601; we write UTC with seconds, `2026-02-15T14:30:00Z`, and read any ISO form. */
  timestamp: string;
  from: string;
  text: string;
  /** Absent = 0. Raised when a hand-over was proved lost. */
  attempt?: number;
  [unknown: string]: unknown;
}

export interface InboxEntry extends EntryBase {
  read: boolean;
  /** A STOP or abort; `text` holds the owner's words. */
  control?: string;
  /** Sent before a STOP; our turn rules skip it. */
  parked?: boolean;
  /** Epoch milliseconds. */
  expiresAt?: number;
  /** Id of the message that this one corrects. */
  editOf?: string;
}

export interface OutboxEntry extends EntryBase {
  sent: boolean;
  /** Set with `sent:true` when the delivery died, then the relay keeps the dead letter; or when there was no text to deliver. */
  error?: string;
}

/** One entry is one (id, timestamp, text): scripts make equal ids within a second. */
export function identityOf(entry: { id: string; timestamp: string; text: string }): string {
  return JSON.stringify([entry.id, entry.timestamp, entry.text]);
}

/** `2026-02-15T14:30:00Z`: other tools compare timestamps as strings. */
export function isoSeconds(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}

/** Which of two versions of one entry stands: the higher attempt, then the one that is settled. */
export function winner<T extends { attempt?: number }>(a: T, b: T, settled: (entry: T) => boolean): T {
  const attemptA = a.attempt ?? 0;
  const attemptB = b.attempt ?? 0;
  if (attemptA !== attemptB) return attemptA > attemptB ? a : b;
  return settled(b) && !settled(a) ? b : a;
}
