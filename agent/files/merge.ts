// What a rewrite keeps: the winner of two versions, what is settled long enough to go, what fits into the window. Pure.

import { identityOf, winner } from '../../protocol/files.ts';
import { fileLimits } from '../../protocol/limits.ts';
import { type Entry, isSettled, type MailboxKind } from './entry.ts';

/** Fields that belong to one version of an entry and go with it when another version wins. */
const versionFields = ['attempt', 'parked', 'error'];

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
  const merged = new Map<string, E>();
  for (const entry of entries) {
    const identity = identityOf(entry);
    const known = merged.get(identity);
    merged.set(identity, known ? mergeEntry(known, entry, kind) : entry);
  }
  return merged.size === entries.length ? entries : [...merged.values()];
}

/** Settled entries go after an hour, all of them above the limit; an unread or unsent one never goes. */
export function pruneSettled<E extends Entry>(entries: readonly E[], kind: MailboxKind, now: number): E[] {
  const recent = entries.filter(
    (entry) => !isSettled(entry, kind) || now - (Date.parse(entry.timestamp) || 0) < fileLimits.settledKeptMs,
  );
  return recent.length > fileLimits.entries ? recent.filter((entry) => !isSettled(entry, kind)) : recent;
}

/** The first of `waiting` that fit into the file's window; at least one, however large. Give the oldest first. */
export function selectWindow<E extends Entry>(
  waiting: readonly E[],
  room: { entries: number; bytes: number } = { entries: fileLimits.entries, bytes: fileLimits.windowBytes },
): E[] {
  const window: E[] = [];
  let bytes = 0;
  for (const entry of waiting) {
    bytes += Buffer.byteLength(JSON.stringify(entry));
    if (window.length > 0 && (window.length >= room.entries || bytes > room.bytes)) break;
    window.push(entry);
  }
  return window;
}
