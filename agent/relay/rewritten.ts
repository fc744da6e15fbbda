// Entries without an id or a time get both when the daemon reads the file. A program that had read the file before writes such
// entries back without them, as a script does that appends in a loop; the entries must stay the same entries. Pure.

import { identityOf, isoSeconds, type OutboxEntry } from '../../protocol/files.ts';

/** The entries of the file after the daemon's last write. */
export interface Written {
  /** Epoch milliseconds. */
  at: number;
  entries: readonly OutboxEntry[];
}

/** Another program's write within this time may have begun before the daemon's write. */
const rewrittenWithinMs = 5_000;

const madeId = /^resp_[0-9a-f]{16}$/;

/**
 * An entry with the text of a missing entry of `last` is that entry, if another entry is new as well: a program that replaces the
 * whole file may repeat a text on purpose. Gives the same array when no entry was recognised.
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

/** True when both ids were made by the daemon, or the time alone was. */
function isCompletedAgain(earlier: OutboxEntry, entry: OutboxEntry, modifiedAtMs: number): boolean {
  if (madeId.test(entry.id)) return madeId.test(earlier.id);
  return entry.id === earlier.id && entry.timestamp === isoSeconds(modifiedAtMs);
}
