// What stood in the two files before a folder was first served: it may have come with the repository, so it is neither given to
// the coding agent nor sent to the phone. Marks it as settled; never removes it, never touches what the journal knows.

import { lstat } from 'node:fs/promises';
import type { ErrorCode } from '../../protocol/errors.ts';
import type { InboxEntry, OutboxEntry } from '../../protocol/files.ts';
import type { ProjectState } from '../journal/state.ts';
import { outboxKey } from './answer-id.ts';
import type { Entry, MailboxKind } from './entry.ts';
import { isOurStop, isOurs } from './inbox-view.ts';
import type { MailboxPlace } from './location.ts';
import type { Signer } from './signing.ts';
import { patientLockMs, type UpdateOptions, updateMailboxFile } from './update.ts';

export interface EarlierOptions {
  signer: Signer;
  now: () => number;
  /** The file was no mailbox; what it held lies aside. */
  onQuarantined(aside: { path: string; salvaged: number }): void;
}

const error: ErrorCode = 'before_binding';

/** How many entries there were. Creates no file. Errors: `lock_timeout`, `file_unusable`. */
export async function settleEarlier(
  place: MailboxPlace,
  project: ProjectState,
  options: EarlierOptions,
): Promise<{ unread: number; unsent: number }> {
  const isUnread = (entry: InboxEntry) => !entry.read && !isOurs(project, entry) && !isOurStop(project, entry);
  const isUnsent = (entry: OutboxEntry) => !entry.sent && !project.outbox.has(outboxKey(entry, options.signer));
  return {
    unread: await settle<InboxEntry>(place.inbox, 'inbox', options, (entry) =>
      isUnread(entry) ? { ...entry, read: true } : entry,
    ),
    unsent: await settle<OutboxEntry>(place.outbox, 'outbox', options, (entry) =>
      isUnsent(entry) ? { ...entry, sent: true, error } : entry,
    ),
  };
}

/** How many entries `settled` changed. */
async function settle<E extends Entry>(
  path: string,
  kind: MailboxKind,
  { now, onQuarantined }: EarlierOptions,
  settled: (entry: E) => E,
): Promise<number> {
  const isThere = await lstat(path).then(
    () => true,
    () => false,
  );
  if (!isThere) return 0;
  let count = 0;
  const update: UpdateOptions = { path, kind, now, lockTimeoutMs: patientLockMs };
  const { quarantined } = await updateMailboxFile<E>(update, (entries) => {
    const next = entries.map(settled);
    count = next.filter((entry, index) => entry !== entries[index]).length;
    return next;
  });
  if (quarantined) onQuarantined(quarantined);
  return count;
}
