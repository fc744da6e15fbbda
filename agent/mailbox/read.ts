// Reads one of the two files without a lock, whatever the path holds.

import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isRealFolder, readBelow } from '../fs/below.ts';
import type { RawFile } from '../fs/raw-file.ts';
import type { Entry, MailboxKind } from './entry.ts';
import { type ParsedMailbox, parseMailbox } from './mailbox-json.ts';

export interface MailboxRead<E> {
  state: 'missing' | ParsedMailbox['state'];
  entries: E[];
  /** True = an update would complete some entries. */
  incomplete: boolean;
  /** Modification time of the file; 0 = missing. */
  modifiedAtMs: number;
}

/** Errors: `outside_project`, `file_unusable` unless it is an ordinary readable file. */
export async function readMailbox<E extends Entry>(path: string, kind: MailboxKind): Promise<MailboxRead<E>> {
  const file = await readBelow(path);
  if (!file) return { state: 'missing', entries: [], incomplete: false, modifiedAtMs: 0 };
  const { state, entries, incomplete } = parseFile(file, kind);
  return { state, entries: entries as E[], incomplete, modifiedAtMs: file.modifiedAtMs };
}

/** True = other users may read the file; an update restores the mode. Never throws. */
export async function isExposedFile(path: string): Promise<boolean> {
  const isThere = await isRealFolder(dirname(path)).catch(() => false);
  const info = isThere ? await lstat(path).catch(() => undefined) : undefined;
  return info?.isFile() === true && isExposed(info.mode & 0o777);
}

/** Windows has no such modes. */
export function isExposed(mode: number): boolean {
  return process.platform !== 'win32' && mode !== 0o600;
}

export function parseFile(file: RawFile, kind: MailboxKind): ParsedMailbox {
  if (!file.oversized) return parseMailbox(file.bytes, kind, file.modifiedAtMs);
  return { state: 'malformed', entries: [], incomplete: false, rest: { elements: [], fields: {} } };
}
