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
  /** Of wa-sync alone: proves that it wrote this id, timestamp, text and `expiresAt`. */
  sig?: string;
  /** See `HookNote`; whatever another program left there counts only as `noteOf` reads it. */
  via?: unknown;
  [unknown: string]: unknown;
}

/**
 * What a hook leaves in the entry that it took, or in the answer that it told: the coding agent's session, its session file, and the
 * size of that file in bytes at that moment.
 */
export interface HookNote {
  /** The coding agent, by the name of its driver. */
  tool: string;
  session: string;
  transcript: string | null;
  at: number;
  /** In the inbox: a turn began with the entry, so that the turn before it is over. */
  starts?: true;
}

const maxNoteUnits = 4_096;
const toolForm = /^[a-z]{1,32}$/;

/** Undefined = no hook of ours left one. */
export function noteOf({ via }: { via?: unknown }): HookNote | undefined {
  if (typeof via !== 'object' || via === null) return undefined;
  const { tool, session, transcript, at, starts } = via as Record<string, unknown>;
  const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= maxNoteUnits;
  if (typeof tool !== 'string' || !toolForm.test(tool) || !isText(session)) return undefined;
  if (transcript !== null && !isText(transcript)) return undefined;
  if (!Number.isSafeInteger(at) || (at as number) < 0) return undefined;
  return { tool, session, transcript, at: at as number, ...(starts === true ? { starts } : {}) };
}

export interface InboxEntry extends EntryBase {
  read: boolean;
  /** A STOP or abort; `text` holds the owner's words. */
  control?: string;
  /** Sent before a STOP; our turn rules skip it. */
  parked?: boolean;
  /** Epoch milliseconds. Default: `messageTtlMs` after `timestamp` for a message of the owner, never for another program's. */
  expiresAt?: number;
  /** Not into a turn that runs: our turn rules keep it for the next one. */
  later?: boolean;
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
