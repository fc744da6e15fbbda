// The journal file: appends with one fsync for all waiting records, and compacts when opened and when grown. The journal has custody
// of every message between the relay's cursor and the coding agent, so `append` resolves only after the lines are on the disk.

import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { fileLimits } from '../../protocol/limits.ts';
import { apply } from './apply.ts';
import { compact } from './compact.ts';
import { type JournalRecord, journalVersion, parseRecord } from './records.ts';
import { type JournalState, type ProjectState, projectOf } from './state.ts';

export interface Journal {
  /** Creates an empty state for an unknown project. */
  project(key: string): ProjectState;
  /** Resolves when the records are fsynced and applied, in call order. Errors: `file_unusable`; then no record of the call applies. */
  append(records: readonly JournalRecord[]): Promise<void>;
  close(): Promise<void>;
  /** Unreadable lines at the start, without a torn last line. */
  readonly unreadableLines: number;
}

interface Waiting {
  records: readonly JournalRecord[];
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** From this size on the file is compacted whenever it has doubled. */
const compactFromBytes = 4 * 1024 * 1024;

/** Errors: `journal_version`, `file_unusable`. Only the holder of the daemon lock may call it. */
export async function openJournal(
  path: string,
  clock: () => number,
  fromBytes: number = compactFromBytes,
): Promise<Journal> {
  const { state, unreadableLines } = await load(path);
  let handle: FileHandle;
  try {
    handle = await rewrite(path, compact(state, clock()));
    await syncDirectory(dirname(path));
  } catch (cause) {
    throw unusable(path, cause);
  }
  let length = (await handle.stat()).size;
  let compactAtBytes = Math.max(fromBytes, 2 * length);
  /** False = after a crash the directory may still name the file from before the compaction. */
  let isNameSynced = true;
  let waiting: Waiting[] = [];
  let flushing: Promise<void> | undefined;

  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      const bytes = Buffer.from(batch.flatMap((each) => each.records.map(toLine)).join(''));
      try {
        if (!isNameSynced) await syncDirectory(dirname(path));
        isNameSynced = true;
        await writeAll(handle, bytes, length);
        await handle.datasync();
        length += bytes.length;
      } catch (cause) {
        // A half-written line after `length` must not become the start of the next line.
        await handle.truncate(length).catch(() => {});
        const error = unusable(path, cause);
        for (const each of batch) each.reject(error);
        continue;
      }
      for (const each of batch) {
        for (const record of each.records) apply(state, record);
        each.resolve();
      }
      if (length >= compactAtBytes) await compactNow();
    }
    flushing = undefined;
  }

  /** Never rejects: when compaction fails, the old file stays in use. */
  async function compactNow(): Promise<void> {
    try {
      const old = handle;
      handle = await rewrite(path, compact(state, clock(), fileLimits.settledKeptMs));
      isNameSynced = false;
      length = (await handle.stat()).size;
      await old.close();
    } catch {
      // The next append reports a broken disk.
    }
    compactAtBytes = Math.max(fromBytes, 2 * length);
  }

  return {
    unreadableLines,
    project: (key) => projectOf(state, key),
    append(records) {
      if (records.length === 0) return Promise.resolve();
      return new Promise((resolve, reject) => {
        waiting.push({ records, resolve, reject });
        flushing ??= flush();
      });
    },
    async close() {
      await Promise.resolve(flushing);
      await handle.close();
    },
  };
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await handle.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
  }
}

function toLine(record: JournalRecord): string {
  return `${JSON.stringify(record)}\n`;
}

function unusable(path: string, cause: unknown): WaError {
  return new WaError('file_unusable', `${path} cannot be written: ${(cause as Error).message}`, {
    hint: 'Free disk space or make the state directory writable; WA_STATE_DIR moves it.',
    cause,
  });
}

async function load(path: string): Promise<{ state: JournalState; unreadableLines: number }> {
  const state: JournalState = new Map();
  const text = await readFile(path, 'utf8').catch((cause) => {
    if (cause.code === 'ENOENT') return '';
    throw unusable(path, cause);
  });
  const lines = text.split('\n');
  // `append` never resolved for text after the last newline.
  lines.pop();
  let unreadableLines = 0;
  for (const line of lines) {
    const record = parseRecord(line);
    if (!record) {
      unreadableLines += 1;
      continue;
    }
    if (record.t === 'journal' && record.version !== journalVersion) {
      throw new WaError(
        'journal_version',
        `${path} has version ${record.version}, this wa-sync knows ${journalVersion}`,
        {
          hint:
            record.version > journalVersion
              ? 'A newer wa-sync wrote it: update this one with `git pull && npm ci` in its clone. Nothing was changed.'
              : 'An older wa-sync wrote it: let that version deliver what waits, then move the file away. Nothing was changed.',
        },
      );
    }
    apply(state, record);
  }
  return { state, unreadableLines };
}

/** Puts the new file in place; its name is not synced yet. */
async function rewrite(path: string, records: JournalRecord[]): Promise<FileHandle> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.new`;
  await rm(temporary, { force: true });
  const handle = await open(temporary, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    await writeAll(handle, Buffer.from(records.map(toLine).join('')), 0);
    await handle.sync();
    await rename(temporary, path);
  } catch (cause) {
    await handle.close();
    await rm(temporary, { force: true }).catch(() => {});
    throw cause;
  }
  return handle;
}

async function syncDirectory(dir: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
