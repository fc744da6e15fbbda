// Brings the files of a phone message to the folder that the coding agent reads, before the message becomes visible. Each message
// is fetched alone: a file that keeps failing delays no other message. Never follows a link, never overwrites a file, never takes
// a name from the phone as a path.

import { join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { fileLimits, relayLimits } from '../../protocol/limits.ts';
import type { PhoneFile } from '../../protocol/log.ts';
import { createBelow, filesBelow, makeFolderBelow, removeBelow } from '../fs/below.ts';
import type { Journal } from '../journal/journal.ts';
import type { ProjectState } from '../journal/state.ts';
import type { Log } from '../log.ts';
import { createBackoff, createPace, pause } from './backoff.ts';
import type { Address, RelayClient } from './client.ts';
import type { Outages } from './outages.ts';

export interface AttachmentsOptions {
  project: ProjectState;
  address: Address;
  journal: Journal;
  client: RelayClient;
  /** The folder for new files, and the folders that may hold older ones. */
  folders(): Promise<[FilesFolder, ...FilesFolder[]]>;
  prepare(): Promise<void>;
  /** A message became visible. */
  onFetched(): void;
  /** A message became visible without some of its files; each with its reason. */
  onMissing(messageId: string, missing: readonly string[]): void;
  clock: () => number;
  random: () => number;
  log: Log;
  outages: Outages;
}

export interface FilesFolder {
  dir: string;
  /** The name for the coding agent: the path in the project. */
  shownDir: string;
}

export interface Attachments {
  /** Fetches the files of every waiting message; resolves when no message waits. Never rejects. */
  fetch(): Promise<void>;
  /** Removes fetched files after `filesKeptMs`. Never rejects. */
  prune(): Promise<void>;
  stop(): void;
}

/** After this time a message becomes visible without its missing files. */
const giveUpAfterMs = 10 * 60_000;
const downloadsAtOnce = 3;

/** The names that `fetchMessage` makes; every other file in the folder has another owner. */
const fetchedForm = /^msg_[a-z0-9]{1,32}_[a-z0-9]{1,11}_[a-z0-9]{1,11}-/;

export function createAttachments(options: AttachmentsOptions): Attachments {
  const { project, journal, clock, log, outages } = options;
  const { fetching } = project;
  const stopping = new AbortController();
  const { signal } = stopping;
  const part = `${project.key} files`;
  const pace = createPace();
  const inSlot = createSlots(downloadsAtOnce);
  const tasks = new Map<string, Promise<void>>();

  const withFiles = () => [...fetching].flatMap(([id, { row }]) => (row.files?.length ? [id] : []));

  async function fetchMessage(id: string): Promise<void> {
    const giveUpAt = clock() + giveUpAfterMs;
    const lines: string[] = [];
    const missing: string[] = [];
    const files = fetching.get(id)?.row.files ?? [];
    for (const [index, file] of files.entries()) {
      const name = `${id}${files.length > 1 ? `-${index + 1}` : ''}-${safeName(file.name)}`;
      const fetched = await fetchPatiently(id, file, name, giveUpAt);
      if (fetched === undefined) return;
      if (fetched instanceof WaError) {
        lines.push(`[${file.kind} ${file.name}: could not be fetched, ${fetched.message}]`);
        missing.push(`${file.name}: ${fetched.message}`);
      } else lines.push(`[${file.kind}: ${fetched}]`);
    }
    const backoff = createBackoff(options.random);
    while (fetching.has(id) && !signal.aborted) {
      if (await settled(id, lines, missing)) return;
      await pause(backoff(), signal);
    }
  }

  /** The path for the coding agent, or the reason to give up. Undefined = the message no longer waits for the file. */
  async function fetchPatiently(
    id: string,
    file: PhoneFile,
    name: string,
    giveUpAt: number,
  ): Promise<string | WaError | undefined> {
    const backoff = createBackoff(options.random);
    let lastReason: string | undefined;
    while (fetching.has(id) && !signal.aborted) {
      try {
        const path = await inSlot(async () => {
          await pace.turn(signal);
          const [{ dir, shownDir }] = await options.folders();
          await fetchFile(file, dir, name);
          return `${shownDir}/${name}`;
        });
        pace.giveBack();
        outages.worked(part);
        return path;
      } catch (cause) {
        if (signal.aborted) return;
        outages.failed(part, cause);
        const error =
          cause instanceof WaError ? cause : new WaError('internal', 'unknown error', { cause, retryable: true });
        const askedMs = error.retryAfterMs ?? 0;
        // The text must not wait for hours: a longer pause than that ends the tries.
        const isLate = clock() + askedMs > giveUpAt;
        // A file that ends at the same byte twice: the connection works, and the platform has no more bytes.
        const endsThere = error.code === 'relay_bad_answer' && error.message === lastReason;
        if (!error.retryable || isLate || endsThere) {
          log('warn', 'file given up', { project: project.key, id, code: error.code });
          outages.left(part);
          return error;
        }
        lastReason = error.message;
        await pause(backoff(askedMs), signal);
      }
    }
  }

  async function fetchFile(file: PhoneFile, dir: string, name: string): Promise<void> {
    await options.prepare();
    await makeFolderBelow(dir);
    const path = join(dir, name);
    // Replaces what an interrupted fetch left: only this function makes such names.
    const handle = await createBelow(path);
    let bytes = 0;
    try {
      for await (const chunk of await options.client.download(options.address, file.id)) {
        bytes += chunk.length;
        if (bytes > relayLimits.fileDownBytes) {
          throw new WaError('body_too_large', `it is larger than ${relayLimits.fileDownBytes} bytes`);
        }
        await handle.writeFile(chunk).catch((cause) => {
          throw unusable(path, cause);
        });
      }
      if (file.bytes !== undefined && bytes < file.bytes) {
        throw new WaError('relay_bad_answer', `it ended after ${bytes} of ${file.bytes} bytes`);
      }
      await handle.sync();
    } catch (cause) {
      await removeBelow(path);
      throw cause instanceof WaError ? cause : new WaError('relay_unreachable', 'the file was cut', { cause });
    } finally {
      await handle.close();
    }
  }

  /** Makes the message visible and takes it out of `fetching`; false = not yet. */
  async function settled(id: string, lines: string[], missing: readonly string[]): Promise<boolean> {
    try {
      await journal.append([{ t: 'fetched', p: project.key, at: clock(), id, lines }]);
    } catch {
      return false;
    }
    log('info', 'files fetched', { project: project.key, id, files: lines.length });
    options.onFetched();
    if (missing.length > 0) options.onMissing(id, missing);
    return true;
  }

  return {
    async fetch() {
      while (withFiles().length > 0 && !signal.aborted) {
        for (const id of withFiles()) {
          if (tasks.has(id)) continue;
          const task = fetchMessage(id).finally(() => tasks.delete(id));
          tasks.set(id, task);
        }
        await Promise.all(tasks.values());
      }
    },
    stop: () => stopping.abort(),
    async prune() {
      try {
        for (const { dir } of await options.folders()) {
          for (const { name, modifiedAtMs } of await filesBelow(dir, (each) => fetchedForm.test(each))) {
            if (clock() - modifiedAtMs > fileLimits.filesKeptMs) await removeBelow(join(dir, name));
          }
        }
      } catch (cause) {
        log('warn', 'old files not removed', { project: project.key, error: (cause as Error).message });
      }
    },
  };
}

function unusable(path: string, cause: unknown): WaError {
  return new WaError('file_unusable', `${path} cannot be written: ${(cause as NodeJS.ErrnoException).code}`, {
    hint: 'Free some disk space and make the folder writable.',
    cause,
  });
}

/** Letters, digits, dot, dash and underscore of any script; no leading dot; the extension survives the cut. */
export function safeName(name: string): string {
  const flat = name
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}._-]+/gu, '_')
    .replace(/\.{2,}/g, '.')
    .replace(/^[._-]+/, '');
  const dot = flat.lastIndexOf('.');
  const extension = dot > 0 && flat.length - dot <= 12 ? flat.slice(dot) : '';
  const stem = flat.slice(0, flat.length - extension.length).slice(0, 60);
  return `${stem}${extension}` || 'file';
}

/** Runs at most `free` tasks at once, in the order of the calls. */
function createSlots(free: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
