// Carries what the outbox file holds to the phone: journal first, then the relay, once; `sent:true` when the journal has the
// outcome, which comes as a row of the log. The relay drops a key that it has, so posting again is always safe.

import type { ErrorCode } from '../../protocol/errors.ts';
import { noteOf, type OutboxEntry } from '../../protocol/files.ts';
import { relayLimits } from '../../protocol/limits.ts';
import type { KeyEnd } from '../../protocol/log.ts';
import { isEnd, type OutboxAnswer, type OutboxItem } from '../../protocol/relay-api.ts';
import { createCoalesced } from '../coalesce.ts';
import type { Journal } from '../journal/journal.ts';
import type { ProjectRecord, StoredTurn } from '../journal/records.ts';
import type { OutboxKey, ProjectState } from '../journal/state.ts';
import type { Log } from '../log.ts';
import { pruneSettled } from '../mailbox/merge.ts';
import { outboxKey, type Signer } from '../mailbox/signing.ts';
import { appendUnsent, patientLockMs, readMailbox, updateMailboxFile } from '../mailbox/update.ts';
import { createBackoff, pause, retryAfterMs } from './backoff.ts';
import type { RelayClient } from './client.ts';
import { dropDocument, type NewDocument } from './documents.ts';
import { createHomeless } from './homeless.ts';
import type { Outages } from './outages.ts';
import { type RenderedKey, wholeName } from './render.ts';
import { recogniseRewritten, type Written } from './rewritten.ts';
import { createUploads } from './uploads.ts';

export interface OutboxOptions {
  project: ProjectState;
  address: { mailbox: string; project: number };
  journal: Journal;
  client: RelayClient;
  path: string;
  signer: Signer;
  /** Before the file is looked at. Errors: what keeps it from that. */
  admit(): Promise<void>;
  /** After it was read: what was read may be used. */
  isAdmitted(): Promise<boolean>;
  /** Before it is written. Errors: those of `admit` and `ensureMailbox`. */
  prepare(): Promise<void>;
  /** A status update as the phone shows it. Undefined = nothing to post: a document. */
  render(key: OutboxKey): Promise<RenderedKey | undefined>;
  /** Keeps a text until the phone has it as a file. Errors: `file_unusable`. */
  keepText(name: string, text: string, caption: string): Promise<NewDocument>;
  /** The file was no mailbox; what it held lies aside. */
  onQuarantined(aside: { path: string; salvaged: number }): void;
  /** The journal has the outcomes of these. */
  onEnded(ends: readonly KeyEnd[]): void;
  clock: () => number;
  random: () => number;
  log: Log;
  outages: Outages;
}

export interface OutboxSync {
  /** Takes new entries of the file into the journal and posts what is open. Never rejects. */
  scan(): Promise<void>;
  /**
   * Adds the answer that ends a turn to journal and file, unless it was told before under this id. While the journal cannot be written
   * it is kept in memory and tried again. `turn` = as it is since, and `receipts` = what became of its messages: in one append with the
   * answer, and never without it. Errors: those of the journal, where there are receipts.
   */
  report(
    entry: OutboxEntry,
    more: { replyTo: string | undefined; turn: StoredTurn; receipts: readonly ProjectRecord[] },
  ): Promise<void>;
  /** Answers in the file that a hook told which worked without the daemon, oldest first, as of the last look; the journal has them. */
  toldAlone(): readonly ToldAlone[];
  /** Queues what is in no file, in order; a key makes an item once. */
  send(...items: OutboxItem[]): Promise<void>;
  sendDocument(document: NewDocument): Promise<void>;
  /** Brings to the relay what it does not have. */
  postOpen(): void;
  /** Rows of the log ended these: the file says so, and whoever waits is told. Never rejects. */
  ended(ends: readonly KeyEnd[]): Promise<void>;
  trouble(): string | undefined;
  /** Resolves when it no longer writes the file. */
  stop(): Promise<void>;
}

/** The session file, and its size when the turn had ended. */
export interface ToldAlone {
  id: string;
  text: string;
  transcript: string;
  at: number;
}

type EntryRecord = Extract<ProjectRecord, { t: 'entry' }>;

export function createOutbox(options: OutboxOptions): OutboxSync {
  const { project, journal, client, path, clock, log } = options;
  const stopping = new AbortController();
  const keyOf = (entry: OutboxEntry) => outboxKey(entry, options.signer);
  let toldAlone: readonly ToldAlone[] = [];
  let trouble: string | undefined;
  let retry: NodeJS.Timeout | undefined;
  let scanning: Promise<void> = Promise.resolve();
  let marking: Promise<unknown> = Promise.resolve();
  let written: Written = { at: 0, entries: [] };

  const scanOnce = createCoalesced(async () => {
    try {
      await takeFromFile();
      trouble = undefined;
    } catch (cause) {
      const { message } = cause as Error;
      if (message !== trouble) log('error', 'outbox not read', { project: project.key, error: message });
      trouble = message;
      again();
    }
    postOpen();
  });

  /** Nothing else happens when what kept the file from being looked at is over. */
  function again(): void {
    clearTimeout(retry);
    if (!stopping.signal.aborted) retry = setTimeout(scan, retryMs).unref();
  }

  function scan(): Promise<void> {
    scanning = scanOnce();
    return scanning;
  }

  /** Two ways, so that the answer to a STOP does not wait while a large text is rendered. */
  const postQuick = postWay((key) => !waits().has(key));
  const postSlow = postWay((key) => waits().has(key));
  /** Of large texts, which are not rendered again at each try. */
  const renderedLarge = new Map<string, RenderedKey>();

  function unposted(): string[] {
    return [...project.openKeys].filter((key) => project.outbox.get(key)?.state === 'open');
  }

  /** Entries from the first large one on: they keep their order. */
  function waits(): ReadonlySet<string> {
    const entries = unposted().flatMap((key) => {
      const source = project.outbox.get(key)?.source;
      return source?.kind === 'file' ? { key, chars: source.answer.text.length } : [];
    });
    const first = entries.findIndex(({ chars }) => chars > quickChars);
    return new Set(first < 0 ? [] : entries.slice(first).map(({ key }) => key));
  }

  function postWay(takes: (key: string) => boolean): () => Promise<void> {
    const backoffOfWay = createBackoff({ firstMs: 500, maxMs: 30_000, random: options.random });
    return createCoalesced(async () => {
      while (!stopping.signal.aborted) {
        try {
          await postAll(unposted().filter(takes));
          options.outages.worked(`${project.key} outbox`);
          backoffOfWay.reset();
          return;
        } catch (cause) {
          if (stopping.signal.aborted) return;
          options.outages.failed(`${project.key} outbox`, cause);
          await pause(backoffOfWay.next(retryAfterMs(cause)), stopping.signal);
        }
      }
    });
  }

  function post(): void {
    void postQuick();
    if (waits().size > 0) void postSlow();
  }

  const { signal } = stopping;
  const keepHomeless = createHomeless({ journal, signal, onKept: () => void scan() });
  const uploads = createUploads({ ...options, end: endKeys, signal });

  function postOpen(): void {
    if (project.openKeys.size === 0) return;
    post();
    uploads.start();
  }

  async function takeFromFile(): Promise<void> {
    await options.admit();
    const { state, entries, incomplete, exposed, modifiedAtMs } = await readMailbox<OutboxEntry>(path, 'outbox');
    if (state === 'missing') return;
    const isOver = (entry: OutboxEntry) => settleEntry(entry, project.outbox.get(keyOf(entry))) !== entry;
    const isRewritten = recogniseRewritten(entries, written, modifiedAtMs) !== entries;
    const isAmiss = state === 'malformed' || incomplete || exposed || isRewritten || entries.some(isOver);
    // What stands there then: another program may have written again since.
    await takeEntries(isAmiss ? await mark() : entries);
  }

  async function takeEntries(entries: readonly OutboxEntry[]): Promise<void> {
    if (!(await options.isAdmitted())) return again();
    const records: ProjectRecord[] = [];
    for (const entry of entries) {
      const key = keyOf(entry);
      if (entry.sent || project.outbox.has(key) || isBlank(entry)) continue;
      const replyTo = typeof entry.replyTo === 'string' ? entry.replyTo : undefined;
      records.push(entryRecord(key, entry, replyTo));
    }
    await journal.append(records);
    toldAlone = entries.flatMap((entry) => {
      const note = noteOf(entry);
      const isTold = note?.transcript && project.outbox.has(entry.id) && keyOf(entry) === entry.id;
      return isTold ? { id: entry.id, text: entry.text, transcript: note.transcript as string, at: note.at } : [];
    });
  }

  function entryRecord(key: string, { id, timestamp, text }: OutboxEntry, replyTo: string | undefined): EntryRecord {
    const answer = { id, timestamp, text };
    return { t: 'entry', p: project.key, at: clock(), key, answer, ...(replyTo === undefined ? {} : { replyTo }) };
  }

  /** Writes the known outcomes into the file, and gives what stands there then. */
  function mark(): Promise<readonly OutboxEntry[]> {
    // An outcome that comes with the end of the daemon is written by the next one.
    if (stopping.signal.aborted) return Promise.resolve([]);
    const mine = markFile();
    marking = mine.catch(() => {});
    return mine;
  }

  async function markFile(): Promise<readonly OutboxEntry[]> {
    await options.prepare();
    const { entries, quarantined } = await updateMailboxFile<OutboxEntry>(
      { path, kind: 'outbox', now: clock, lockTimeoutMs: patientLockMs },
      (found, _, modifiedAtMs) =>
        pruneSettled(
          recogniseRewritten(found, written, modifiedAtMs).map((entry) =>
            settleEntry(entry, project.outbox.get(keyOf(entry))),
          ),
          'outbox',
          clock(),
        ),
    );
    written = { at: clock(), entries };
    if (quarantined) options.onQuarantined(quarantined);
    return entries;
  }

  async function postAll(keys: readonly string[]): Promise<void> {
    let kept: unknown;
    let items: OutboxItem[] = [];
    let bytes = 0;
    for (const key of keys) {
      const known = project.outbox.get(key);
      const rendered = known && (await render(known));
      if (stopping.signal.aborted) return;
      if (!rendered) continue;
      try {
        if (rendered.whole !== undefined) await sendWhole(key, rendered.whole);
      } catch (cause) {
        // With the next try: the others must not wait for room on the disk.
        kept = cause;
        continue;
      }
      const itemBytes = Buffer.byteLength(JSON.stringify(rendered.item));
      if (items.length === relayLimits.outboxItemsPerCall || bytes + itemBytes > maxCallBytes) await postItems();
      items.push(rendered.item);
      bytes += itemBytes;
    }
    if (items.length > 0) await postItems();
    if (kept !== undefined) throw kept;

    async function postItems(): Promise<void> {
      const posted = items;
      items = [];
      bytes = 0;
      if (stopping.signal.aborted || posted.length === 0) return;
      const answer = await client.outbox({ ...options.address, items: posted });
      if (!stopping.signal.aborted) await takeAnswer(answer);
    }
  }

  async function render(known: OutboxKey): Promise<RenderedKey | undefined> {
    const { key, source } = known;
    if (source.kind !== 'file' || source.answer.text.length <= quickChars) return options.render(known);
    const rendered = renderedLarge.get(key) ?? (await options.render(known));
    for (const each of renderedLarge.keys()) if (project.outbox.get(each)?.state !== 'open') renderedLarge.delete(each);
    if (rendered) renderedLarge.set(key, rendered);
    return rendered;
  }

  /** Once, before the messages that name the file. */
  async function sendWhole(key: string, text: string): Promise<void> {
    const wholeKey = `whole_${key.slice(0, 48)}`;
    if (project.outbox.has(wholeKey)) return;
    const { document } = await options.keepText(wholeName, text, 'The whole text');
    await journal.append([{ t: 'document', p: project.key, at: clock(), key: wholeKey, document }]);
    uploads.start();
  }

  /** A key that was posted before may have ended long ago: the answer says so, whoever acknowledged its row. */
  async function takeAnswer({ epoch, items }: OutboxAnswer): Promise<void> {
    const keys = items.filter((item) => !isEnd(item)).map(({ key }) => key);
    if (keys.length > 0) await journal.append([{ t: 'posted', p: project.key, at: clock(), keys, epoch }]);
    await endKeys(items.filter(isEnd));
  }

  async function endKeys(ends: readonly KeyEnd[]): Promise<void> {
    const open = ends.filter(({ key }) => project.openKeys.has(key));
    const at = clock();
    await journal.append(open.map((end) => ({ t: 'key', p: project.key, at, ...end })));
    await ended(open);
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
    if (inFile) await mark().catch((cause) => log('warn', 'outbox not marked', { error: (cause as Error).message }));
  }

  return {
    scan,
    trouble: () => trouble,
    postOpen,
    ended,
    toldAlone: () => toldAlone,
    async report(unsigned, { replyTo, turn, receipts }) {
      const entry = options.signer.sign(unsigned, 'outbox');
      const record = entryRecord(keyOf(entry), entry, replyTo);
      if (project.outbox.has(record.key)) {
        return journal.append([...receipts, { t: 'turn', p: project.key, at: clock(), turn }]);
      }
      // Journal first: another program may rewrite the file without having seen the entry.
      const unkept = await journal.append([{ ...record, turn }, ...receipts]).then(
        () => undefined,
        (cause: Error) => {
          keepHomeless(record);
          return cause;
        },
      );
      const stored = replyTo === undefined ? entry : { ...entry, replyTo };
      await appendToFile(stored).catch((cause) =>
        log('warn', 'outbox file not written', { project: project.key, error: (cause as Error).message }),
      );
      void scan();
      if (unkept && receipts.length > 0) throw unkept;
    },
    async send(...items) {
      const at = clock();
      await journal.append(items.map((item) => ({ t: 'item', p: project.key, at, key: item.key, item })));
      post();
    },
    async sendDocument({ key, document }) {
      await journal.append([{ t: 'document', p: project.key, at: clock(), key, document }]);
      uploads.start();
    },
    async stop() {
      stopping.abort();
      clearTimeout(retry);
      await scanning;
      await marking;
    },
  };

  /** What has no room there goes out from the journal. */
  async function appendToFile(entry: OutboxEntry): Promise<void> {
    await options.prepare();
    await appendUnsent({ path, now: clock, lockTimeoutMs: patientLockMs, bounded: true }, entry);
  }
}

const retryMs = 1_000;

/** A longer text may take its time. */
const quickChars = 8_192;

/** Room for what stands around the items. */
const maxCallBytes = relayLimits.apiBodyBytes - 16 * 1024;

/** Nothing to send. Files are replaced whole, so no text comes later; with one it would be another entry. */
function isBlank({ text }: OutboxEntry): boolean {
  return text.trim() === '';
}

const withoutText: ErrorCode = 'empty_text';

/** The same object when there is nothing to say of it yet. */
function settleEntry(entry: OutboxEntry, key: OutboxKey | undefined): OutboxEntry {
  if (entry.sent) return entry;
  if (!key) return isBlank(entry) ? { ...entry, sent: true, error: withoutText } : entry;
  if (!key.end) return entry;
  return { ...entry, sent: true, ...(key.end.error ? { error: key.end.error.code } : {}) };
}
