// Brings the files of a phone message to where the coding agent reads them, before the message becomes visible. Each message is
// fetched by itself: a file that keeps failing delays no other message. Never follows a link, never overwrites a file, never takes
// a name from the phone as a path.

import { join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { fileLimits, relayLimits } from '../../protocol/limits.ts';
import type { PhoneFile } from '../../protocol/log.ts';
import { createBelow, filesBelow, makeFolderBelow, removeBelow } from '../fs/below.ts';
import type { Journal } from '../journal/journal.ts';
import type { ProjectState } from '../journal/state.ts';
import type { Log } from '../log.ts';
import { createBackoff, pause } from './backoff.ts';
import type { Address, RelayClient } from './client.ts';
import type { Outages } from './outages.ts';
import { createPace } from './pace.ts';

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

/** A message must not wait for ever for its picture. */
const giveUpAfterMs = 10 * 60_000;
const downloadsAtOnce = 3;

/** The names that `bring` makes; every other file in the folder belongs to somebody else. */
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

  async function fetchMessage(id: string): Promise<void> {
    const backoff = createBackoff(options.random);
    const giveUpAt = clock() + giveUpAfterMs;
    const lines: string[] = [];
    const missing: string[] = [];
    let lastReason: string | undefined;
    while (fetching.has(id) && !signal.aborted) {
      const file = fetching.get(id)?.row.files?.[lines.length];
      if (file === undefined) {
        if (await settled(id, lines, missing)) return;
        await pause(backoff.next(), signal);
        continue;
      }
      const outcome = await tryFile(file, id, lines.length);
      if (signal.aborted) return;
      if ('line' in outcome) {
        lines.push(outcome.line);
      } else {
        const { error } = outcome;
        const askedMs = error.retryAfterMs ?? 0;
        // The text must not wait for hours: a longer pause than that ends the tries.
        const isLate = clock() + askedMs > giveUpAt;
        // The same end twice is no broken connection: the platform has no more bytes.
        const endsThere = error.code === 'relay_bad_answer' && error.message === lastReason;
        if (error.retryable && !isLate && !endsThere) {
          lastReason = error.message;
          await pause(backoff.next(askedMs), signal);
          continue;
        }
        log('warn', 'file given up', { project: project.key, id, code: error.code });
        outages.left(part);
        lines.push(`[${file.kind} ${file.name}: could not be fetched, ${error.message}]`);
        missing.push(`${file.name}: ${error.message}`);
      }
      lastReason = undefined;
      backoff.reset();
    }
  }

  async function tryFile(file: PhoneFile, id: string, at: number): Promise<{ line: string } | { error: WaError }> {
    try {
      const line = await inSlot(async () => {
        await pace.turn(signal);
        return bring(file, id, at);
      });
      pace.giveBack();
      outages.worked(part);
      return { line };
    } catch (cause) {
      if (!signal.aborted) outages.failed(part, cause);
      const unknown = () => new WaError('internal', 'unknown error', { cause, retryable: true });
      return { error: cause instanceof WaError ? cause : unknown() };
    }
  }

  /** The line for the coding agent. */
  async function bring(file: PhoneFile, id: string, at: number): Promise<string> {
    const several = (fetching.get(id)?.row.files?.length ?? 0) > 1;
    const name = `${id}${several ? `-${at + 1}` : ''}-${safeName(file.name)}`;
    const [{ dir, shownDir }] = await options.folders();
    await fetchFile(file, dir, name);
    return `[${file.kind}: ${shownDir}/${name}]`;
  }

  async function fetchFile(file: PhoneFile, dir: string, name: string): Promise<void> {
    await options.prepare();
    await makeFolderBelow(dir);
    const path = join(dir, name);
    // Replaces the rest of an interrupted fetch: only this function makes such names.
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
      while (fetching.size > 0 && !signal.aborted) {
        for (const id of fetching.keys()) {
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

/** Runs at most `free` works at once, in the order of the calls. */
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
