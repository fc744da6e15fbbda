// Adds one status update to the outbox file, within the limits that each write of ours keeps.

import type { OutboxEntry } from '../../protocol/files.ts';
import { hasRoom, pruneSettled } from './merge.ts';
import { type UpdateOptions, updateMailboxFile } from './update.ts';

/** False = what is unsent fills the file, so that the entry must wait in another place. Errors: those of `updateMailboxFile`. */
export async function appendUnsent(options: Omit<UpdateOptions, 'kind'>, entry: OutboxEntry): Promise<boolean> {
  let room = true;
  await updateMailboxFile<OutboxEntry>({ ...options, kind: 'outbox' }, (entries) => {
    const kept = pruneSettled(entries, 'outbox', options.now());
    room = hasRoom(kept, entry);
    return room ? pruneSettled([...kept, entry], 'outbox', options.now()) : kept;
  });
  return room;
}
