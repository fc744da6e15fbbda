// Entries without an id or a time of their own get them when they are read. A program that had read the file before writes them back
// without, and they must not become others by that: a script that appends in a loop does so. Pure.

import { identityOf, isoSeconds, type OutboxEntry } from '../../protocol/files.ts';

/** What stood in the file after a write of ours. */
export interface Written {
  /** Epoch milliseconds. */
  at: number;
  entries: readonly OutboxEntry[];
}

/** A rewrite this soon after ours may have begun before it. */
const rewrittenWithinMs = 5_000;

const madeId = /^resp_[0-9a-f]{16}$/;

/**
 * An entry that has taken the place of a missing one of `last`, with the same text, is that one. Not where nothing else is new: a
 * program that replaces the whole file may say the same again. Gives the same array when there was nothing to recognise.
 */
export function recogniseRewritten(
  entries: readonly OutboxEntry[],
  last: Written,
  modifiedAtMs: number,
): readonly OutboxEntry[] {
  if (modifiedAtMs - last.at > rewrittenWithinMs) return entries;
  const known = new Set(last.entries.map(identityOf));
  const standing = new Set(entries.map(identityOf));
  const missing = last.entries.filter((entry) => !standing.has(identityOf(entry)));
  let isNewThere = false;
  const recognised = entries.map((entry) => {
    if (known.has(identityOf(entry))) return entry;
    const index = missing.findIndex((each) => each.text === entry.text && isCompletedAgain(each, entry, modifiedAtMs));
    const [earlier] = index === -1 ? [] : missing.splice(index, 1);
    isNewThere ||= earlier === undefined;
    return earlier ? { ...entry, ...earlier } : entry;
  });
  return isNewThere && recognised.some((entry, index) => entry !== entries[index]) ? recognised : entries;
}

/** Both ids are made, or the time alone is. */
function isCompletedAgain(earlier: OutboxEntry, entry: OutboxEntry, modifiedAtMs: number): boolean {
  if (madeId.test(entry.id)) return madeId.test(earlier.id);
  return entry.id === earlier.id && entry.timestamp === isoSeconds(modifiedAtMs);
}
