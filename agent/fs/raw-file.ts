// Opens and reads a file that any program may have put in place: follows no link unless told to, never waits for a pipe, reads at
// most a bound. Windows has no O_NOFOLLOW; there a look before the open is the only protection.

import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { WaError } from '../../protocol/errors.ts';
import { fileLimits } from '../../protocol/limits.ts';
import { fileUnusable } from './atomic.ts';

export interface RawFile {
  /** Empty when `oversized`. */
  bytes: Buffer;
  sizeBytes: number;
  /** Larger than the caller's bound, so not read. */
  oversized: boolean;
  mode: number;
  inode: number;
  modifiedAtMs: number;
}

interface Opening {
  flags?: number;
  mode?: number;
  followsLinks?: boolean;
}

const noFollow = constants.O_NOFOLLOW ?? 0;
const noWait = constants.O_NONBLOCK ?? 0;
const chunkBytes = 64 * 1024;

/** Undefined = no such file. Errors: `file_unusable` unless it is an ordinary readable file. */
export function readRaw(path: string, maxBytes: number = fileLimits.fileBytes): Promise<RawFile | undefined> {
  return read(path, maxBytes, false);
}

/** The same for a file of the user outside of every project, which may be a link. Errors: `file_unusable`. */
export function readLinked(path: string, maxBytes: number): Promise<RawFile | undefined> {
  return read(path, maxBytes, true);
}

/** Closes the file after `work`. Throws the error of the system, and `file_unusable` unless it is an ordinary file. */
export async function withOrdinary<T>(
  path: string,
  { flags = constants.O_RDONLY, mode, followsLinks = false }: Opening,
  work: (handle: FileHandle, info: Stats) => Promise<T>,
): Promise<T> {
  if (!followsLinks && constants.O_NOFOLLOW === undefined) {
    const info = await lstat(path).catch(() => undefined);
    if (info?.isSymbolicLink()) throw notOrdinary(path);
  }
  const handle = await open(path, flags | noWait | (followsLinks ? 0 : noFollow), mode);
  try {
    const info = await handle.stat();
    if (!info.isFile()) throw notOrdinary(path);
    return await work(handle, info);
  } finally {
    await handle.close();
  }
}

async function read(path: string, maxBytes: number, followsLinks: boolean): Promise<RawFile | undefined> {
  try {
    return await withOrdinary(path, { followsLinks }, async (handle, info) => {
      const bytes = info.size > maxBytes ? undefined : await readAtMost(handle, info.size, maxBytes);
      return {
        bytes: bytes ?? Buffer.alloc(0),
        sizeBytes: info.size,
        oversized: bytes === undefined,
        mode: info.mode & 0o777,
        inode: info.ino,
        modifiedAtMs: info.mtimeMs,
      };
    });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw fileUnusable(path, cause);
  }
}

/** Undefined = there is more. The size is a guess: files of the system say 0, and others grow. A read that stops at the size has met the end. */
async function readAtMost(handle: FileHandle, sizeBytes: number, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let room = Buffer.alloc(sizeBytes + 1);
  for (let total = 0; ; ) {
    const { bytesRead } = await handle.read(room, 0, room.length, null);
    total += bytesRead;
    if (total > maxBytes) return undefined;
    if (bytesRead > 0) chunks.push(room.subarray(0, bytesRead));
    if (bytesRead === 0 || total === sizeBytes) return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
    room = bytesRead < room.length ? room.subarray(bytesRead) : Buffer.alloc(chunkBytes);
  }
}

export function notOrdinary(path: string): WaError {
  return new WaError('file_unusable', `${path} is not an ordinary file`, { hint: `Move ${path} away.` });
}

/** Compares bytes: a time stamp is too coarse to tell two quick writes apart. */
export function sameContent(a: RawFile | undefined, b: RawFile | undefined): boolean {
  if (!a || !b) return a === b;
  if (a.oversized || b.oversized) return a.sizeBytes === b.sizeBytes && a.modifiedAtMs === b.modifiedAtMs;
  return a.bytes.equals(b.bytes);
}
