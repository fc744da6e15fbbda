// Brings the files of a phone message to where the coding agent reads them, before the message may be seen. Never follows a link,
// never overwrites, never takes a name from the phone as a path.

import { join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { fileLimits, relayLimits } from '../../protocol/limits.ts';
import type { PhoneFile } from '../../protocol/log.ts';
import { createBelow, filesBelow, makeFolderBelow, removeBelow } from '../files/below.ts';
import type { Journal } from '../journal/journal.ts';
import type { ProjectState } from '../journal/state.ts';
import type { Log } from '../log.ts';
import type { Address, RelayClient } from '../relay-client.ts';
import { createFetching } from './fetching.ts';
import type { Outages } from './outages.ts';

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
  /** A message came without some of its files; with the reason of each. */
  onMissing(messageId: string, missing: readonly string[]): void;
  clock: () => number;
  random: () => number;
  log: Log;
  outages: Outages;
}

export interface FilesFolder {
  dir: string;
  /** How the coding agent names it, by its path in the project. */
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

export function createAttachments(options: AttachmentsOptions): Attachments {
  const { project, journal, clock, log } = options;
  const stopping = new AbortController();

  const fetch = createFetching({
    key: project.key,
    fetching: project.fetching,
    async bring(file, id, position) {
      const several = (project.fetching.get(id)?.row.files?.length ?? 0) > 1;
      const name = `${id}${several ? `-${position + 1}` : ''}-${safeName(file.name)}`;
      const [{ dir, shownDir }] = await options.folders();
      await fetchFile(file, dir, name);
      return `[${file.kind}: ${shownDir}/${name}]`;
    },
    async settle(id, lines) {
      await journal.append([{ t: 'fetched', p: project.key, at: clock(), id, lines }]);
      log('info', 'files fetched', { project: project.key, id, files: lines.length });
      options.onFetched();
    },
    onMissing: options.onMissing,
    clock,
    random: options.random,
    log,
    outages: options.outages,
    signal: stopping.signal,
  });

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
