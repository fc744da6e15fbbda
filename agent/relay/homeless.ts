// Status updates that the journal cannot take now: kept in memory and tried again, in their order, until it has them.

import type { Journal } from '../journal/journal.ts';
import type { ProjectRecord } from '../journal/records.ts';
import { pause } from './backoff.ts';

type EntryRecord = Extract<ProjectRecord, { t: 'entry' }>;

export interface HomelessOptions {
  journal: Pick<Journal, 'append'>;
  signal: AbortSignal;
  onKept(): void;
}

/** Also bounds what a daemon that is killed right after a full disk has room again takes with it. */
const retryMs = 250;

export function createHomeless({ journal, signal, onKept }: HomelessOptions): (record: EntryRecord) => void {
  const waiting: EntryRecord[] = [];
  let searching = false;

  async function search(): Promise<void> {
    searching = true;
    while (waiting.length > 0) {
      await pause(retryMs, signal);
      if (signal.aborted) break;
      const batch = [...waiting];
      const isKept = await journal.append(batch).then(
        () => true,
        () => false,
      );
      if (!isKept) continue;
      waiting.splice(0, batch.length);
      onKept();
    }
    searching = false;
  }

  return (record) => {
    waiting.push(record);
    if (!searching) void search();
  };
}
