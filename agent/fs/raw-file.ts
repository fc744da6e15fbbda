// Opens and reads a file that anybody may have put there: never follows a link, never waits for a pipe, never reads without
// bound. Windows has no O_NOFOLLOW; there the look before the open is all there is.

import { constants } from 'node:fs';
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

const noFollow = constants.O_NOFOLLOW ?? 0;
const noWait = constants.O_NONBLOCK ?? 0;
const chunkBytes = 64 * 1024;

/** Undefined = there is no such file. Errors: `file_unusable` for what exists and is no ordinary readable file. */
export function readRaw(path: string, maxBytes: number = fileLimits.fileBytes): Promise<RawFile | undefined> {
  return readOpened(path, maxBytes, () => openHere(path, constants.O_RDONLY));
}

/** The same for a file of the user's own outside of every project, which may be a link. Errors: `file_unusable`. */
export function readLinked(path: string, maxBytes: number): Promise<RawFile | undefined> {
  return readOpened(path, maxBytes, () => open(path, constants.O_RDONLY | noWait));
}

/** Throws what the system says, and `file_unusable` for what is no ordinary file. */
export async function openOrdinary(path: string, flags: number, mode?: number): Promise<FileHandle> {
  const handle = await openHere(path, flags, mode);
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw notOrdinary(path);
}

/** Through no link, whatever it is. */
async function openHere(path: string, flags: number, mode?: number): Promise<FileHandle> {
  if (constants.O_NOFOLLOW === undefined) {
    const info = await lstat(path).catch(() => undefined);
    if (info?.isSymbolicLink()) throw notOrdinary(path);
  }
  return open(path, flags | noFollow | noWait, mode);
}

async function readOpened(
  path: string,
  maxBytes: number,
  openFile: () => Promise<FileHandle>,
): Promise<RawFile | undefined> {
  let handle: FileHandle | undefined;
  try {
    handle = await openFile();
    const info = await handle.stat();
    if (!info.isFile()) throw notOrdinary(path);
    const bytes = info.size > maxBytes ? undefined : await readAtMost(handle, info.size, maxBytes);
    return {
      bytes: bytes ?? Buffer.alloc(0),
      sizeBytes: info.size,
      oversized: bytes === undefined,
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

/** Undefined = there is more. The size is only a guess: files of the system say 0, and others grow. A read that stops at it has met the end. */
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

/** By bytes, since a time stamp is too coarse to tell two quick writes apart. */
export function sameContent(a: RawFile | undefined, b: RawFile | undefined): boolean {
  if (!a || !b) return a === b;
  if (a.oversized || b.oversized) return a.sizeBytes === b.sizeBytes && a.modifiedAtMs === b.modifiedAtMs;
  return a.bytes.equals(b.bytes);
}
