// Files for the phone. The state directory keeps a copy of each file until the outcome is known, so that the original may change or
// go. Name and caption are redacted like every text; the bytes are sent unchanged.

import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { constants, copyFile, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { relayLimits } from '../../protocol/limits.ts';
import type { KeyEnd } from '../../protocol/log.ts';
import type { StoredDocument } from '../journal/records.ts';
import type { Address, RelayClient } from './client.ts';
import type { Redact } from './render.ts';

export interface NewDocument {
  key: string;
  document: StoredDocument;
}

/** Errors: `bad_arguments` for a folder, an empty or a too large file, `file_unusable`. */
export async function keepDocument(dir: string, path: string, caption: string, redact: Redact): Promise<NewDocument> {
  const refused = (why: string, hint: string, cause?: unknown) =>
    new WaError('bad_arguments', `${path} ${why}`, { hint, cause });
  const info = await stat(path).catch((cause) => {
    throw refused(`cannot be read: ${cause.code}`, 'Name an existing file.', cause);
  });
  if (!info.isFile()) throw refused('is not a file', 'Name a file, not a folder.');
  if (info.size === 0) throw refused('is empty', 'No phone takes an empty file.');
  if (info.size > relayLimits.fileUpBytes) {
    const why = `has ${info.size} bytes, the phone takes ${relayLimits.fileUpBytes}`;
    throw refused(why, 'Send a smaller file, or a link to the file.');
  }
  return keep(dir, redact(basename(path)), redact(caption), (copy) => copyFile(path, copy, constants.COPYFILE_EXCL));
}

/** A redacted text as a file. Errors: `file_unusable`. */
export function keepText(dir: string, name: string, text: string, caption: string): Promise<NewDocument> {
  return keep(dir, name, caption, (copy) => writeFile(copy, text, { mode: 0o600, flag: 'wx' }));
}

async function keep(
  dir: string,
  name: string,
  caption: string,
  write: (copy: string) => Promise<void>,
): Promise<NewDocument> {
  const key = randomUUID();
  const copy = join(dir, key);
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await write(copy);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new WaError('file_unusable', `${name} could not be copied to ${dir}: ${code}`, {
      hint: 'Free some disk space, or make the state directory writable.',
      cause,
    });
  }
  return { key, document: { path: copy, name, caption } };
}

/** Errors: those of `upload`. A missing copy is an outcome, because no further try can help. */
export async function uploadDocument(
  client: RelayClient,
  address: Address,
  { key, document }: NewDocument,
): Promise<KeyEnd[]> {
  const info = await stat(document.path).catch(() => undefined);
  if (!info)
    return [{ key, state: 'dead', error: { code: 'not_found', reason: 'its copy is gone from the state directory' } }];
  try {
    const { name, caption, path } = document;
    const { items } = await client.upload(address, {
      key,
      name,
      caption,
      bytes: info.size,
      content: createReadStream(path),
    });
    return items;
  } catch (cause) {
    if (!(cause instanceof WaError) || cause.retryable || cause.code === 'unauthorized') throw cause;
    return [{ key, state: 'dead', error: { code: cause.code, reason: cause.message } }];
  }
}

export async function dropDocument({ path }: StoredDocument): Promise<void> {
  await rm(path, { force: true }).catch(() => {});
}
