// The inbox file in the hands of the daemon: read where the mailbox is admitted, updated under its lock, its trouble logged once.

import { WaError } from '../../protocol/errors.ts';
import type { InboxEntry } from '../../protocol/files.ts';
import type { Log, LogLevel } from '../log.ts';
import type { MailboxDeps, OpenMailbox } from './open.ts';
import { readMailbox, type UpdateResult, updateMailboxFile } from './update.ts';

export interface InboxFileOptions extends Pick<OpenMailbox, 'isAdmitted'>, Pick<MailboxDeps, 'onQuarantined'> {
  path: string;
  clock: () => number;
  log: Log;
  /** What others wrote waits for the admission. */
  lookLater(): void;
}

interface Found {
  entries: readonly InboxEntry[];
  /** True = other users may read the file. */
  exposed: boolean;
}

type Change = Parameters<typeof updateMailboxFile<InboxEntry>>[1];

export interface InboxFile {
  /**
   * With ids that stand in the file: another program may omit them. No entries where they do not matter, or the file is in trouble.
   * Never rejects.
   */
  read(matter?: (entries: readonly InboxEntry[]) => boolean): Promise<Found>;
  /** Default of the time-out: what a hook can wait. Errors: those of `updateMailboxFile`. */
  update(change: Change, lockTimeoutMs?: number): Promise<UpdateResult<InboxEntry>>;
  /** Why the last read failed. */
  trouble(): string | undefined;
}

export function createInboxFile(options: InboxFileOptions): InboxFile {
  const { path, clock } = options;
  let unreadable: string | undefined;

  /** Whoever finds the file malformed first, the phone is told. */
  async function update(change: Change, lockTimeoutMs?: number): Promise<UpdateResult<InboxEntry>> {
    const result = await updateMailboxFile({ path, kind: 'inbox', now: clock, lockTimeoutMs }, change);
    if (result.quarantined) options.onQuarantined(result.quarantined);
    unreadable = undefined;
    return result;
  }

  return {
    update,
    trouble: () => unreadable,
    async read(matter = () => true) {
      const none = { entries: [], exposed: false };
      try {
        const file = await readMailbox<InboxEntry>(path, 'inbox');
        unreadable = undefined;
        // Most events find nothing in the file that the journal does not know, and the look at git is long.
        if (!matter(file.entries)) return none;
        if (!(await options.isAdmitted())) {
          // The hook that asks does not wait for the reason: what others wrote comes with a later look.
          options.lookLater();
          return none;
        }
        return file.incomplete ? { ...file, entries: (await update((entries) => entries)).entries } : file;
      } catch (cause) {
        unreadable = told(options.log, 'warn', 'inbox not read', cause as Error, unreadable);
        return none;
      }
    },
  };
}

/** Logs the trouble once. Returns its text with the repair, because `wa-sync status` shows nothing else. */
export function told(log: Log, level: LogLevel, what: string, cause: Error, before: string | undefined): string {
  const text = [cause.message, cause instanceof WaError ? cause.hint : undefined].filter(Boolean).join('. ');
  if (text !== before) log(level, what, { error: text });
  return text;
}
