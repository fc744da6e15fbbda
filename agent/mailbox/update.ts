// Reads and changes the two files, whatever the path holds: under a lock against other processes of wa-sync, by another read right
// before the rename against other programs. Keeps malformed content under a second name before it is replaced.

import { constants } from 'node:fs';
import { copyFile, link } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import type { OutboxEntry } from '../../protocol/files.ts';
import { fileLimits, hookLimits } from '../../protocol/limits.ts';
import { fileUnusable, writeAtomic, writeDurably } from '../fs/atomic.ts';
import { closeToOthers, filesBelow, isRealFolder, readBelow, removeBelow } from '../fs/below.ts';
import { withFileLock } from '../fs/lock.ts';
import { type RawFile, readRaw, sameContent } from '../fs/raw-file.ts';
import { type ParsedMailbox, parseMailbox, serialiseMailbox } from './mailbox-json.ts';
import { type Entry, hasRoom, type MailboxKind, mergeByIdentity, pruneSettled } from './merge.ts';

/** For every caller except a hook: long enough for a loaded disk. */
export const patientLockMs = 5_000;

export type FileState = ParsedMailbox['state'];

export interface MailboxRead<E> {
  state: FileState;
  entries: E[];
  /** True = an update would complete some entries. */
  incomplete: boolean;
  /** True = other users may read the file; an update restores the mode. */
  exposed: boolean;
  /** Modification time of the file; 0 = missing. */
  modifiedAtMs: number;
}

export interface UpdateOptions {
  path: string;
  kind: MailboxKind;
  now: () => number;
  /** Default: the time that a hook can wait. */
  lockTimeoutMs?: number | undefined;
}

export interface UpdateResult<E> {
  /** The present entries of the file. */
  entries: E[];
  /** Its present content; undefined = it is missing. */
  bytes: Buffer | undefined;
  changed: boolean;
  /** Where malformed content was copied to, and how many of its entries were recovered. */
  quarantined: { path: string; salvaged: number } | undefined;
}

/** How often another program may write in between before the update fails. */
const maxRounds = 20;

/** A program that writes without a rename leaves half a file for a moment, so broken content must be this old to count. */
const quietMs = 30;
const quietTries = 3;

/** Per file: a program that keeps writing malformed content must not fill the disk. */
const keptCopies = 5;

const stampForm = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/;

/** Takes no lock. Errors: `outside_project`, `file_unusable` unless it is an ordinary readable file. */
export async function readMailbox<E extends Entry>(path: string, kind: MailboxKind): Promise<MailboxRead<E>> {
  const file = await readBelow(path);
  const { state, entries, incomplete } = parseFile(file, kind);
  const exposed = file !== undefined && isExposed(file);
  return { state, entries: entries as E[], incomplete, exposed, modifiedAtMs: file?.modifiedAtMs ?? 0 };
}

/**
 * `mutate` must be a pure function of its arguments, except for notes that each run makes anew: it runs again when another program
 * wrote in between. `state` and `modifiedAtMs` = the file before the update: with `missing` and `malformed` the absence of an entry
 * means nothing. Writes nothing when nothing changes. Errors: `lock_timeout`, `outside_project`, `file_unusable`; the file is then
 * unchanged.
 */
export async function updateMailboxFile<E extends Entry = Entry>(
  options: UpdateOptions,
  mutate: (entries: readonly E[], state: FileState, modifiedAtMs: number) => readonly E[],
): Promise<UpdateResult<E>> {
  const { path, kind } = options;
  // The lock is a file in the same folder, so the folder is checked first.
  await isRealFolder(dirname(path));
  return withFileLock(path, options.lockTimeoutMs ?? hookLimits.fileLockMs, async () => {
    let rescued: Rescued<E> | undefined;
    for (let round = 0; round < maxRounds; round += 1) {
      const { file: before, parsed: found } = await readQuiet(path, kind);
      const parsed = withRescued(found, rescued, kind);
      if (parsed === found && found.state !== 'malformed') rescued = await forget(rescued);
      const state = rescued ? 'malformed' : parsed.state;
      const entries = [...mutate(parsed.entries as E[], state, before?.modifiedAtMs ?? 0)];
      if (isUnchanged(parsed, entries)) {
        // A `mv` by another program may leave the file readable for everybody.
        if (before && isExposed(before)) await closeToOthers(path);
        return { entries, bytes: before?.bytes, changed: false, quarantined: undefined };
      }
      const text = serialiseMailbox(entries, parsed.rest);
      refuseOversized(path, text);
      const malformed = found.state === 'malformed' ? before : undefined;
      const aside = malformed && (await keepAside(path, malformed, options.now()));
      if (aside) rescued = { entries: parsed.entries as E[], aside };
      if (await replace(path, text, before, aside)) {
        const quarantined = rescued && { path: rescued.aside, salvaged: rescued.entries.length };
        return { entries, bytes: Buffer.from(text), changed: true, quarantined };
      }
    }
    throw new WaError('file_unusable', `${path} was rewritten by another program ${maxRounds} times in a row`, {
      hint: `Find the program that keeps writing ${path}. Nothing is lost, because the write is repeated later.`,
    });
  });
}

/** False = the file has another content, or other users may read it. Errors: `file_unusable`. */
export async function stillHolds(path: string, bytes: Buffer): Promise<boolean> {
  const file = await readRaw(path);
  return file !== undefined && !isExposed(file) && file.bytes.equals(bytes);
}

/** Entries of malformed content that another program replaced while the content was being copied. */
interface Rescued<E> {
  entries: E[];
  aside: string;
}

/** Returns the same object when the new content has all rescued entries: the other program repaired the file, or had not finished. */
function withRescued(found: ParsedMailbox, rescued: Rescued<Entry> | undefined, kind: MailboxKind): ParsedMailbox {
  if (!rescued) return found;
  const entries = mergeByIdentity([...found.entries, ...rescued.entries], kind);
  const hasAll = entries.length === found.entries.length && entries.every((entry, at) => entry === found.entries[at]);
  return hasAll ? found : { ...found, entries: [...entries], incomplete: true };
}

async function forget(rescued: Rescued<Entry> | undefined): Promise<undefined> {
  if (rescued) await removeBelow(rescued.aside).catch(() => {});
}

/** False = another program wrote in between. `aside` = the copy of malformed content. */
async function replace(path: string, text: string, before: RawFile | undefined, aside?: string): Promise<boolean> {
  try {
    return await writeAtomic(path, text, async () => sameContent(await readRaw(path), before));
  } catch (cause) {
    // The malformed content is still in its place, and every further try would add a copy.
    const current = await readBelow(path).catch(() => undefined);
    if (aside && sameContent(current, before)) await removeBelow(aside).catch(() => {});
    throw cause;
  }
}

/**
 * Writes the bytes that were read to `<path>.corrupt-<time>`, never over another file. Undefined = the file was too large to be
 * read, and is gone. Errors: `file_unusable`.
 */
async function keepAside(path: string, file: RawFile, now: number): Promise<string | undefined> {
  for (let at = now; ; at += 1) {
    const aside = `${path}.corrupt-${new Date(at).toISOString().replaceAll(/[:.]/g, '-')}`;
    try {
      await (file.oversized ? secondName(path, aside) : writeDurably(aside, file.bytes));
      await removeOldest(path, aside).catch(() => {});
      return aside;
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code === 'EEXIST') continue;
      if (file.oversized && code === 'ENOENT') return undefined;
      await removeBelow(aside).catch(() => {});
      throw fileUnusable(path, cause);
    }
  }
}

/** Makes a copy on a disk without hard links (FAT). */
async function secondName(path: string, aside: string): Promise<void> {
  await link(path, aside).catch((cause) => {
    if (cause.code === 'EEXIST' || cause.code === 'ENOENT') throw cause;
    return copyFile(path, aside, constants.COPYFILE_EXCL);
  });
  await closeToOthers(aside);
}

/** By the time in the name; the newest copy stays even if another name has a later time. */
async function removeOldest(path: string, newest: string): Promise<void> {
  const prefix = `${basename(path)}.corrupt-`;
  const isCopy = (name: string) => name.startsWith(prefix) && stampForm.test(name.slice(prefix.length));
  const copies = await filesBelow(dirname(path), (name) => isCopy(name) && name !== basename(newest));
  const newestFirst = copies
    .map(({ name }) => name)
    .sort()
    .reverse();
  for (const name of newestFirst.slice(keptCopies - 1)) await removeBelow(join(dirname(path), name));
}

async function readQuiet(
  path: string,
  kind: MailboxKind,
): Promise<{ file: RawFile | undefined; parsed: ParsedMailbox }> {
  for (let attempt = 0; ; attempt += 1) {
    const file = await readBelow(path);
    const parsed = parseFile(file, kind);
    const isFresh = file && Date.now() - file.modifiedAtMs < quietMs;
    if (!isFresh || attempt >= quietTries || parsed.state === 'ok') return { file, parsed };
    await new Promise((resolve) => setTimeout(resolve, quietMs));
  }
}

function parseFile(file: RawFile | undefined, kind: MailboxKind): ParsedMailbox {
  if (file && !file.oversized) return parseMailbox(file.bytes, kind, file.modifiedAtMs);
  const state = file ? 'malformed' : 'missing';
  return { state, entries: [], incomplete: false, rest: { elements: [], fields: {} } };
}

/** Windows has no such modes. */
function isExposed({ mode }: RawFile): boolean {
  return process.platform !== 'win32' && mode !== 0o600;
}

function isUnchanged(parsed: ParsedMailbox, entries: readonly Entry[]): boolean {
  if (parsed.state === 'malformed' || parsed.incomplete || entries.length !== parsed.entries.length) return false;
  return entries.every((entry, index) => {
    const before = parsed.entries[index];
    return entry === before || JSON.stringify(entry) === JSON.stringify(before);
  });
}

/** A written file must stay within the limit for reading. */
function refuseOversized(path: string, text: string): void {
  const sizeBytes = Buffer.byteLength(text);
  if (sizeBytes <= fileLimits.fileBytes) return;
  throw new WaError('file_unusable', `${path} would grow to ${sizeBytes} bytes of at most ${fileLimits.fileBytes}`, {
    hint: `Remove entries that are no longer needed from ${path}.`,
  });
}

/**
 * Adds one status update to the outbox file, unless a signed answer with its id stands there. `bounded` = only within the limits of
 * the file, for a caller that has another place. Errors: those of `updateMailboxFile`.
 */
export async function appendUnsent(
  { bounded, ...options }: Omit<UpdateOptions, 'kind'> & { bounded: boolean },
  entry: OutboxEntry,
): Promise<void> {
  await updateMailboxFile<OutboxEntry>({ ...options, kind: 'outbox' }, (entries) => {
    if (entry.sig !== undefined && entries.some(({ id, sig }) => id === entry.id && sig !== undefined)) return entries;
    const kept = pruneSettled(entries, 'outbox', options.now());
    return bounded && !hasRoom(kept, entry) ? kept : pruneSettled([...kept, entry], 'outbox', options.now());
  });
}
