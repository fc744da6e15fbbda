// Reads a file that anybody may have put there: never follows a link, never waits for a pipe, never reads without bound.

import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { WaError } from '../../protocol/errors.ts';
import { fileLimits } from '../../protocol/limits.ts';
import { fileUnusable } from './atomic.ts';

export interface RawFile {
  /** Empty when `oversized`. */
  bytes: Buffer;
  sizeBytes: number;
  /** Larger than `fileLimits.fileBytes`, so not read. */
  oversized: boolean;
  mode: number;
  inode: number;
  modifiedAtMs: number;
}

/** Undefined = there is no such file. Errors: `file_unusable` for what exists and is no ordinary readable file. */
export async function readRaw(path: string): Promise<RawFile | undefined> {
  let handle: FileHandle | undefined;
  try {
    // Windows has no O_NOFOLLOW; there the look before the open must do.
    if (constants.O_NOFOLLOW === undefined && (await lstat(path)).isSymbolicLink()) throw notOrdinary(path);
    handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    const info = await handle.stat();
    if (!info.isFile()) throw notOrdinary(path);
    const oversized = info.size > fileLimits.fileBytes;
    return {
      bytes: oversized ? Buffer.alloc(0) : await handle.readFile(),
      sizeBytes: info.size,
      oversized,
      mode: info.mode & 0o777,
      inode: info.ino,
      modifiedAtMs: info.mtimeMs,
    };
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw cause instanceof WaError ? cause : fileUnusable(path, cause);
  } finally {
    await handle?.close();
  }
}

export function notOrdinary(path: string): WaError {
  return new WaError('file_unusable', `${path} is not an ordinary file`, { hint: `Move ${path} away.` });
}

/** By bytes, since a time stamp is too coarse to tell two quick writes apart. */
export function sameContent(a: RawFile | undefined, b: RawFile | undefined): boolean {
  if (!a || !b) return a === b;
  if (a.oversized || b.oversized) return a.sizeBytes === b.sizeBytes && a.modifiedAtMs === b.modifiedAtMs;
  return a.bytes.equals(b.bytes);
}
