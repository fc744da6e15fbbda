// Status updates that neither journal nor outbox file could take: a copy in the spool wherever one can be written, and tried again
// until the journal has them, in their order.

import { removeSpooled, writeSpool } from '../files/spool.ts';
import type { Journal } from '../journal/journal.ts';
import type { ProjectRecord } from '../journal/records.ts';
import type { SpoolRecord } from '../turns/spooled.ts';
import { pause } from './backoff.ts';

type EntryRecord = Extract<ProjectRecord, { t: 'entry' }>;

export interface HomelessOptions {
  journal: Pick<Journal, 'append'>;
  /** Folders of the spool, which may lie on other disks; and when this daemon started, so that it does not take its own copies for a hook's. */
  spool: { dirs: readonly string[]; startedAt: number };
  signal: AbortSignal;
  onKept(): void;
}

/** Also bounds what a daemon that is killed right after a full disk has room again takes with it, when no spool could be written. */
const retryMs = 250;

/** The result resolves when the record is in the spool, or in our memory alone because no place can be written. Never rejects. */
export function createHomeless({ journal, spool, signal, onKept }: HomelessOptions) {
  /** In order. */
  const waiting: { record: EntryRecord; copy: string | undefined }[] = [];
  let searching = false;

  async function search(): Promise<void> {
    searching = true;
    while (waiting.length > 0) {
      await pause(retryMs, signal);
      if (signal.aborted) break;
      const batch = [...waiting];
      const isKept = await journal.append(batch.map(({ record }) => record)).then(
        () => true,
        () => false,
      );
      if (!isKept) continue;
      waiting.splice(0, batch.length);
      for (const { copy } of batch) if (copy !== undefined) await removeSpooled(copy).catch(() => {});
      onKept();
    }
    searching = false;
  }

  return async (record: EntryRecord): Promise<void> => {
    const each = { record, copy: undefined as string | undefined };
    waiting.push(each);
    const { p: project, at, answer, replyTo } = record;
    const reply = replyTo === undefined ? {} : { replyTo };
    const copy: SpoolRecord = { kind: 'answer', project, at, answer, ...reply, startedAt: spool.startedAt };
    each.copy = await writeSpool(spool.dirs, copy).catch(() => undefined);
    // The journal had room before the copy was there.
    if (!waiting.includes(each) && each.copy !== undefined) await removeSpooled(each.copy).catch(() => {});
    if (!searching && waiting.length > 0) void search();
  };
}
