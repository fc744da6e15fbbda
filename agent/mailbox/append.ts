// Adds one status update to the outbox file.

import type { OutboxEntry } from '../../protocol/files.ts';
import { hasRoom, pruneSettled } from './merge.ts';
import { type UpdateOptions, updateMailboxFile } from './update.ts';

/**
 * An answer that stands there already, by its id, is not added again. `bounded` = within the limits of the file, for whoever has
 * another place; false = it has no room. Errors: those of `updateMailboxFile`.
 */
export async function appendUnsent(
  { bounded, ...options }: Omit<UpdateOptions, 'kind'> & { bounded: boolean },
  entry: OutboxEntry,
): Promise<boolean> {
  let room = true;
  await updateMailboxFile<OutboxEntry>({ ...options, kind: 'outbox' }, (entries) => {
    if (entry.sig !== undefined && entries.some(({ id, sig }) => id === entry.id && sig !== undefined)) return entries;
    const kept = pruneSettled(entries, 'outbox', options.now());
    room = !bounded || hasRoom(kept, entry);
    return room ? pruneSettled([...kept, entry], 'outbox', options.now()) : kept;
  });
  return room;
}
