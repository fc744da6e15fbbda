// Brings the files of a phone message into `<mailbox folder>/wa_files/` before the message may be seen. Never follows a link,
// never overwrites, never takes a name from the phone as a path.

import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { fileLimits, relayLimits } from '../../protocol/limits.ts';
import type { PhoneFile } from '../../protocol/log.ts';
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
  /** `wa_files` beside the two files. */
  dir: string;
  /** How the coding agent names that folder, e.g. `.gemini/wa_files`. */
  shownDir: string;
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

export interface Attachments {
  /** Fetches what waits; resolves when nothing waits any more. Never rejects. */
  fetch(): Promise<void>;
  prune(): Promise<void>;
  stop(): void;
}

export function createAttachments(options: AttachmentsOptions): Attachments {
  const { project, journal, clock, log } = options;
  const stopping = new AbortController();

  const fetch = createFetching({
    key: project.key,
    fetching: project.fetching,
    async bring(file, id, position) {
      const several = (project.fetching.get(id)?.row.files?.length ?? 0) > 1;
      const name = `${id}${several ? `-${position + 1}` : ''}-${safeName(file.name)}`;
      await fetchFile(file, name);
      return `[${file.kind}: ${options.shownDir}/${name}]`;
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

  async function fetchFile(file: PhoneFile, name: string): Promise<void> {
    await makeFolder();
    const path = join(options.dir, name);
    // Left by a fetch that was cut: its name is ours alone.
    await rm(path, { force: true });
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
    const handle = await open(path, flags, 0o600).catch((cause) => {
      throw unusable(path, cause);
    });
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
      await rm(path, { force: true });
      throw cause instanceof WaError ? cause : new WaError('relay_unreachable', 'the file was cut', { cause });
    } finally {
      await handle.close();
    }
  }

  async function makeFolder(): Promise<void> {
    await options.prepare();
    await mkdir(options.dir, { mode: 0o700 }).catch((cause) => {
      if (cause.code !== 'EEXIST') throw unusable(options.dir, cause);
    });
    if (!(await lstat(options.dir)).isDirectory()) {
      throw new WaError('outside_project', `${options.dir} is a link, not a folder`, {
        hint: `Remove ${options.dir}.`,
      });
    }
  }

  return {
    fetch,
    stop: () => stopping.abort(),
    async prune() {
      for (const name of await readdir(options.dir).catch(() => [])) {
        const path = join(options.dir, name);
        const info = await stat(path).catch(() => undefined);
        if (info?.isFile() && clock() - info.mtimeMs > fileLimits.filesKeptMs) await rm(path, { force: true });
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
