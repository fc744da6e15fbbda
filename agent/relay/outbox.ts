// Carries what the outbox file holds to the phone: journal first, then the relay, once; `sent:true` when the journal has the
// outcome, which comes as a row of the log.

import type { ErrorCode } from '../../protocol/errors.ts';
import { noteOf, type OutboxEntry } from '../../protocol/files.ts';
import type { KeyEnd } from '../../protocol/log.ts';
import type { OutboxItem } from '../../protocol/relay-api.ts';
import { createCoalesced } from '../coalesce.ts';
import type { ProjectRecord, StoredTurn } from '../journal/records.ts';
import type { OutboxKey } from '../journal/state.ts';
import type { Log } from '../log.ts';
import { pruneSettled } from '../mailbox/merge.ts';
import { outboxKey, type Signer } from '../mailbox/signing.ts';
import { appendUnsent, patientLockMs, readMailbox, updateMailboxFile } from '../mailbox/update.ts';
import { pause } from './backoff.ts';
import { dropDocument, type NewDocument } from './documents.ts';
import { createPosting, type PostingOptions } from './posting.ts';
import { recogniseRewritten, type Written } from './rewritten.ts';

export interface OutboxOptions extends Omit<PostingOptions, 'ended' | 'signal'> {
  path: string;
  signer: Signer;
  /** Called before the file is looked at. Errors: the reason why the file must not be looked at. */
  admit(): Promise<void>;
  /** Asked after the file was read: true when what was read may be used. */
  isAdmitted(): Promise<boolean>;
  /** Called before the file is written. Errors: those of `admit` and `ensureMailbox`. */
  prepare(): Promise<void>;
  /** The file was malformed; what the file held lies aside. */
  onQuarantined(aside: { path: string; salvaged: number }): void;
  /** The journal has the outcomes of these keys. */
  onEnded(ends: readonly KeyEnd[]): void;
  log: Log;
}

export interface OutboxSync {
  /** Takes new entries of the file into the journal and posts what is open. Never rejects. */
  scan(): Promise<void>;
  /**
   * Adds the answer that ends a turn to journal and file, unless the journal has this id. While the journal cannot be written, the
   * answer is kept in memory and tried again. `turn` = the turn state after the answer, and `receipts` = what became of the messages of
   * the turn: one append with the answer, and never without the answer. Errors: those of the journal, if there are receipts.
   */
  report(
    entry: OutboxEntry,
    more: { replyTo: string | undefined; turn: StoredTurn; receipts: readonly ProjectRecord[] },
  ): Promise<void>;
  /** The last scan took all that stood in the file. */
  isTaken(): boolean;
  /** Queues items that stand in no file, in order; an item with a known key is dropped. */
  send(...items: OutboxItem[]): Promise<void>;
  sendDocument(document: NewDocument): Promise<void>;
  /** Posts what the relay does not have. */
  postOpen(): void;
  /** Rows of the log ended these keys: marks the file and tells the waiting callers. Never rejects. */
  ended(ends: readonly KeyEnd[]): Promise<void>;
  trouble(): string | undefined;
  /** Resolves when the file is no longer written. */
  stop(): Promise<void>;
}

type EntryRecord = Extract<ProjectRecord, { t: 'entry' }>;

export function createOutbox(options: OutboxOptions): OutboxSync {
  const { project, journal, path, clock, log } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const keyOf = (entry: OutboxEntry) => outboxKey(entry, options.signer);
  let trouble: string | undefined;
  let isTaken = false;
  let retry: NodeJS.Timeout | undefined;
  let written: Written = { at: 0, entries: [] };

  const scan = createCoalesced(async () => {
    isTaken = false;
    // The next daemon writes an outcome that comes while this daemon stops.
    if (signal.aborted) return;
    try {
      isTaken = await takeFromFile();
      trouble = undefined;
    } catch (cause) {
      const { message } = cause as Error;
      if (message !== trouble) log('error', 'outbox not read', { project: project.key, error: message });
      trouble = message;
      again();
    }
    postOpen();
  });

  /** Without an event: the obstacle that kept the scan from the file can end silently. */
  function again(): void {
    clearTimeout(retry);
    if (!signal.aborted) retry = setTimeout(scan, retryMs).unref();
  }

  const postOpen = createPosting({ ...options, ended, signal });

  const inMemory: EntryRecord[] = [];
  const keepInMemory = createCoalesced(async () => {
    while (inMemory.length > 0 && !signal.aborted) {
      const batch = [...inMemory];
      const isKept = await journal.append(batch).then(
        () => true,
        () => false,
      );
      if (isKept) inMemory.splice(0, batch.length);
      else await pause(memoryRetryMs, signal);
    }
    if (!signal.aborted) void scan();
  });

  async function takeFromFile(): Promise<boolean> {
    await options.admit();
    const { state, entries, incomplete, exposed, modifiedAtMs } = await readMailbox<OutboxEntry>(path, 'outbox');
    if (state === 'missing') return true;
    const isSettled = settled(entries, modifiedAtMs).every((entry, index) => entry === entries[index]);
    const isAmiss = state === 'malformed' || incomplete || exposed || !isSettled;
    // `mark` reads the file again, as another program may have written meanwhile.
    return takeEntries(isAmiss ? await mark() : entries);
  }

  async function takeEntries(entries: readonly OutboxEntry[]): Promise<boolean> {
    if (!(await options.isAdmitted())) {
      again();
      return false;
    }
    const records: ProjectRecord[] = [];
    for (const entry of entries) {
      const key = keyOf(entry);
      if (entry.sent || project.outbox.has(key) || isBlank(entry)) continue;
      records.push(entryRecord(entry));
    }
    await journal.append(records);
    return true;
  }

  function entryRecord(entry: OutboxEntry): EntryRecord {
    const { id, timestamp, text, replyTo } = entry;
    const reply = typeof replyTo === 'string' ? { replyTo } : {};
    const key = keyOf(entry);
    const answer = { id, timestamp, text };
    return { t: 'entry', p: project.key, at: clock(), key, answer, ...reply, ...(key === id ? endedBy(entry) : {}) };
  }

  /** Entries that need no change are the same objects. */
  function settled(entries: readonly OutboxEntry[], modifiedAtMs: number): OutboxEntry[] {
    return recogniseRewritten(entries, written, modifiedAtMs).map((entry) =>
      settleEntry(entry, project.outbox.get(keyOf(entry))),
    );
  }

  /** Writes the known outcomes into the file, and gives the entries that the file has then. */
  async function mark(): Promise<readonly OutboxEntry[]> {
    await options.prepare();
    const { entries, quarantined } = await updateMailboxFile<OutboxEntry>(
      { path, kind: 'outbox', now: clock, lockTimeoutMs: patientLockMs },
      (found, _, modifiedAtMs) => pruneSettled(settled(found, modifiedAtMs), 'outbox', clock()),
    );
    written = { at: clock(), entries };
    if (quarantined) options.onQuarantined(quarantined);
    return entries;
  }

  async function ended(ends: readonly KeyEnd[]): Promise<void> {
    options.onEnded(ends);
    let inFile = false;
    for (const { key, state, error } of ends) {
      if (state === 'dead')
        log('error', 'not delivered', { project: project.key, code: error?.code, reason: error?.reason });
      const source = project.outbox.get(key)?.source;
      if (source?.kind === 'document') await dropDocument(source.document);
      inFile ||= source?.kind === 'file';
    }
    if (inFile) await scan();
  }

  return {
    scan,
    trouble: () => trouble,
    isTaken: () => isTaken,
    postOpen,
    ended,
    async report(unsigned, { replyTo, turn, receipts }) {
      const entry = { ...options.signer.sign(unsigned, 'outbox'), ...(replyTo === undefined ? {} : { replyTo }) };
      const record = entryRecord(entry);
      if (project.outbox.has(record.key)) {
        return journal.append([...receipts, { t: 'turn', p: project.key, at: clock(), turn }]);
      }
      // Journal first: another program may rewrite the file without having seen the entry.
      const unkept = await journal.append([{ ...record, turn }, ...receipts]).then(
        () => undefined,
        (cause: Error) => {
          inMemory.push(record);
          void keepInMemory();
          return cause;
        },
      );
      try {
        await options.prepare();
        await appendUnsent({ path, now: clock, lockTimeoutMs: patientLockMs, bounded: true }, entry);
      } catch (cause) {
        log('warn', 'outbox file not written', { project: project.key, error: (cause as Error).message });
      }
      void scan();
      if (unkept && receipts.length > 0) throw unkept;
    },
    async send(...items) {
      const at = clock();
      await journal.append(items.map((item) => ({ t: 'item', p: project.key, at, key: item.key, item })));
      postOpen();
    },
    async sendDocument({ key, document }) {
      await journal.append([{ t: 'document', p: project.key, at: clock(), key, document }]);
      postOpen();
    },
    async stop() {
      stopping.abort();
      clearTimeout(retry);
      await scan();
    },
  };
}

const retryMs = 1_000;

/** Short: a daemon that is killed after a full disk has space again takes with it what is in memory. */
const memoryRetryMs = 250;

/** Nothing to send. Files are replaced whole, so a text cannot follow; an entry with a text would be another entry. */
function isBlank({ text }: OutboxEntry): boolean {
  return text.trim() === '';
}

/** For the journal, as another program may take the entry out of the file before the turn is settled. `entry` is signed. */
function endedBy(entry: OutboxEntry): Pick<EntryRecord, 'ended'> {
  const note = noteOf(entry);
  return note?.transcript ? { ended: { transcript: note.transcript, at: note.at } } : {};
}

const withoutText: ErrorCode = 'empty_text';

/** The same object when nothing is known of the entry yet. */
function settleEntry(entry: OutboxEntry, key: OutboxKey | undefined): OutboxEntry {
  if (entry.sent) return entry;
  if (!key) return isBlank(entry) ? { ...entry, sent: true, error: withoutText } : entry;
  if (!key.end) return entry;
  return { ...entry, sent: true, ...(key.end.error ? { error: key.end.error.code } : {}) };
}
