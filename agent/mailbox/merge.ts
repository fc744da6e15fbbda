// The entries of the two files, and what a rewrite keeps of them: the winner of two versions, what is not settled or was settled
// lately, what fits into the window. Pure.

import { type InboxEntry, identityOf, type OutboxEntry, winner } from '../../protocol/files.ts';
import { fileLimits } from '../../protocol/limits.ts';

export type MailboxKind = 'inbox' | 'outbox';
export type Entry = InboxEntry | OutboxEntry;

function isSettled(entry: Entry, kind: MailboxKind): boolean {
  return kind === 'inbox' ? entry.read === true : entry.sent === true;
}

/** Fields that belong to one version of an entry and go with it when another version wins. */
const versionFields = ['attempt', 'parked', 'error', 'via'];

/** The version that stands, with the fields that others added to the one in the file. */
export function mergeEntry<E extends Entry>(inFile: E, ours: E, kind: MailboxKind): E {
  const stands = winner(inFile, ours, (entry) => isSettled(entry, kind));
  if (stands === inFile) return inFile;
  const merged: E = { ...inFile, ...ours };
  for (const field of versionFields) if (!(field in ours)) delete merged[field];
  return merged;
}

/** One entry per identity, in the place of the first; the same array when there was nothing to merge. */
export function mergeByIdentity<E extends Entry>(entries: readonly E[], kind: MailboxKind): readonly E[] {
  if (new Set(entries.map(({ id }) => id)).size === entries.length) return entries;
  const merged = new Map<string, E>();
  for (const entry of entries) {
    const identity = identityOf(entry);
    const known = merged.get(identity);
    merged.set(identity, known ? mergeEntry(known, entry, kind) : entry);
  }
  return merged.size === entries.length ? entries : [...merged.values()];
}

/**
 * Settled entries go after an hour, all of them above the limit of entries, the oldest above the limit of bytes. An unread or unsent
 * entry never goes, nor the only entry, whose writer waits until the entry is settled.
 */
export function pruneSettled<E extends Entry>(entries: readonly E[], kind: MailboxKind, now: number): E[] {
  const recent = entries.filter(
    (entry) => !mayGo(entry, kind) || now - (Date.parse(entry.timestamp) || 0) < fileLimits.settledKeptMs,
  );
  if (recent.length > fileLimits.entries) return recent.filter((entry) => !mayGo(entry, kind));
  let excessBytes = fileBytes(recent) - fileLimits.windowBytes;
  let left = recent.length;
  return recent.filter((entry) => {
    if (excessBytes <= 0 || left === 1 || !mayGo(entry, kind)) return true;
    excessBytes -= entryBytes(entry);
    left -= 1;
    return false;
  });
}

/** What a hook took stays until the daemon has read its note. */
function mayGo(entry: Entry, kind: MailboxKind): boolean {
  const isNoted = kind === 'inbox' && entry.via !== undefined && entry.sig !== undefined;
  return isSettled(entry, kind) && !isNoted;
}

/** True = with one more entry the unsent entries of the outbox file stay within its limits. The first always fits. */
export function hasRoom(entries: readonly OutboxEntry[], entry: OutboxEntry): boolean {
  const unsent = entries.filter((each) => !each.sent);
  if (unsent.length === 0) return true;
  return unsent.length < fileLimits.entries && fileBytes([...unsent, entry]) <= fileLimits.windowBytes;
}

/** Reserved for the notes that one hand-over adds to the entries. */
export const noteBytes = 8 * 1024;

/** The first of `waiting`, oldest first, that fit into the file's window with the unread `others`; at least one, however large. */
export function selectWindow<E extends Entry>(waiting: readonly E[], others: readonly E[] = []): E[] {
  const window: E[] = [];
  const entries = fileLimits.entries - others.length;
  let bytes = fileBytes(others);
  for (const entry of waiting) {
    bytes += entryBytes(entry);
    if (window.length > 0 && (window.length >= entries || bytes > fileLimits.windowBytes - noteBytes)) break;
    window.push(entry);
  }
  return window;
}

function fileBytes(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => sum + entryBytes(entry), frameBytes);
}

/** The bytes in the file: four spaces before each line, and a comma and line end after the last. */
function entryBytes(entry: Entry): number {
  const text = JSON.stringify(entry, null, 2);
  return Buffer.byteLength(text) + 4 * text.split('\n').length + 2;
}

/** `{"messages":[]}` around them. */
const frameBytes = 32;
