// Brings the files of a phone message to where the coding agent reads them, before the message may be seen. Never follows a link,
// never overwrites, never takes a name from the phone as a path.

import { join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { fileLimits, relayLimits } from '../../protocol/limits.ts';
import type { PhoneFile } from '../../protocol/log.ts';
import { createBelow, filesBelow, makeFolderBelow, removeBelow } from '../files/below.ts';
import type { Journal } from '../journal/journal.ts';
import type { HeldMessage, ProjectState } from '../journal/state.ts';
import type { Log } from '../log.ts';
import type { Address, RelayClient } from '../relay-client.ts';
import { createBackoff, pause } from './backoff.ts';
import { createCoalesced } from './coalesce.ts';

export interface AttachmentsOptions {
  project: ProjectState;
  address: Address;
  journal: Journal;
  client: RelayClient;
  /** Where they lie now, and the folders in which older ones may lie. */
  folders(): Promise<[FilesFolder, ...FilesFolder[]]>;
  prepare(): Promise<void>;
  /** A message became visible. */
  onFetched(): void;
  clock: () => number;
  random: () => number;
  log: Log;
}

export interface FilesFolder {
  dir: string;
  /** How the coding agent names it, e.g. `.gemini/wa_files`. */
  shownDir: string;
}

export interface Attachments {
  /** Fetches what waits; resolves when nothing waits any more. Never rejects. */
  fetch(): Promise<void>;
  /** Removes fetched files that are older than they are kept. Never rejects. */
  prune(): Promise<void>;
  stop(): void;
}

/** The names that `fetchMessage` makes; whatever else lies in the folder is somebody's. */
const fetchedForm = /^msg_[a-z0-9]{1,32}_[a-z0-9]{1,11}_[a-z0-9]{1,11}-/;

/** A message must not wait for ever for its picture. */
const giveUpAfterMs = 10 * 60_000;

export function createAttachments(options: AttachmentsOptions): Attachments {
  const { project, journal, clock, log } = options;
  const stopping = new AbortController();
  const backoff = createBackoff({ firstMs: 500, maxMs: 30_000, random: options.random });
  const since = new Map<string, number>();

  const fetch = createCoalesced(async () => {
    while (project.fetching.size > 0 && !stopping.signal.aborted) {
      const [message] = project.fetching.values();
      const again = message && (await fetchMessage(message));
      if (again) await pause(backoff.next(again.askedMs), stopping.signal);
      else backoff.reset();
    }
  });

  /** Undefined = done; else it is to be tried again, not before the relay asked for. */
  async function fetchMessage(message: HeldMessage): Promise<{ askedMs: number } | undefined> {
    const { id, files = [] } = message.row;
    const startedAt = since.get(id) ?? clock();
    since.set(id, startedAt);
    const lines: string[] = [];
    const [{ dir, shownDir }] = await options.folders();
    for (const [index, file] of files.entries()) {
      const name = `${id}${files.length > 1 ? `-${index + 1}` : ''}-${safeName(file.name)}`;
      try {
        await fetchFile(file, dir, name);
        lines.push(`[${file.kind}: ${shownDir}/${name}]`);
      } catch (cause) {
        const error = cause instanceof WaError ? cause : undefined;
        const askedMs = error?.retryAfterMs ?? 0;
        // A pause of hours is obeyed by not asking again: the text must not wait that long.
        const late = clock() + askedMs - startedAt > giveUpAfterMs;
        if (stopping.signal.aborted) return { askedMs };
        if ((error?.retryable ?? true) && !late) {
          log('warn', 'file not fetched', { project: project.key, id, code: error?.code ?? 'internal' });
          return { askedMs };
        }
        lines.push(`[${file.kind} ${file.name}: could not be fetched, ${error?.message ?? 'unknown error'}]`);
      }
    }
    try {
      await journal.append([{ t: 'fetched', p: project.key, at: clock(), id, lines }]);
    } catch {
      return { askedMs: 0 };
    }
    since.delete(id);
    log('info', 'files fetched', { project: project.key, id, files: files.length });
    options.onFetched();
    return undefined;
  }

  async function fetchFile(file: PhoneFile, dir: string, name: string): Promise<void> {
    await makeFolder(dir);
    const path = join(dir, name);
    // What a fetch left that was cut goes: its name is ours alone.
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

  async function makeFolder(dir: string): Promise<void> {
    await options.prepare();
    await makeFolderBelow(dir);
  }

  return {
    fetch,
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
