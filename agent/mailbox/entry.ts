// The entries of the two files, and when an entry is settled. Pure.

import type { InboxEntry, OutboxEntry } from '../../protocol/files.ts';

export type MailboxKind = 'inbox' | 'outbox';
export type Entry = InboxEntry | OutboxEntry;

export function isSettled(entry: Entry, kind: MailboxKind): boolean {
  return kind === 'inbox' ? entry.read === true : entry.sent === true;
}
