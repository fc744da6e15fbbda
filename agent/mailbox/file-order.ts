// Keeps the order in which the owner spoke while the files of a message are fetched: "look at this [photo]" comes before "the second
// one is wrong". Only for a short time, so that no text waits for a slow picture.

import type { HeldMessage } from '../journal/state.ts';

/** How long later messages wait for the files of an earlier one, from the first look at that one. */
export const waitForFilesMs = 15_000;

export interface FileOrder {
  /** Messages above this one wait for the files of an earlier one. */
  upToSeq: number;
  /** When some of them have waited long enough; undefined = none waits. */
  endsAt: number | undefined;
}

/** `fetching` = the messages whose files are missing. The returned function takes the daemon's clock. */
export function createFileOrder(fetching: ReadonlyMap<string, HeldMessage>): (now: number) => FileOrder {
  const seenAt = new Map<string, number>();
  return (now) => {
    for (const id of seenAt.keys()) if (!fetching.has(id)) seenAt.delete(id);
    const order: FileOrder = { upToSeq: Number.POSITIVE_INFINITY, endsAt: undefined };
    for (const [id, { row, parked }] of fetching) {
      // Sent before a STOP: later messages do not refer to it.
      if (parked === 'parked') continue;
      // A clock that was set back must not make the wait longer.
      const since = Math.min(seenAt.get(id) ?? now, now);
      seenAt.set(id, since);
      const end = since + waitForFilesMs;
      if (end <= now) continue;
      order.upToSeq = Math.min(order.upToSeq, row.seq);
      order.endsAt = Math.min(order.endsAt ?? end, end);
    }
    return order;
  };
}
