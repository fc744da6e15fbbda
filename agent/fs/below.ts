// The only access to files below a project, where a cloned repository or another program may have put anything: follows no link,
// opens ordinary files only, reads at most the caller's bound. Does not protect against a program of this user that changes a folder
// between the check and the use.

import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, opendir, realpath, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { fileUnusable } from './atomic.ts';
import { notOrdinary, type RawFile, readRaw, withOrdinary } from './raw-file.ts';

/** More names than any folder of wa-sync has. */
const maxNames = 10_000;

/**
 * The path of `names` below the real path of `folder`: links above it are the user's own. Below it each name must be its own real
 * name; a different real name shows a link that another program may have put there.
 */
export async function pathBelow(folder: string, ...names: string[]): Promise<string> {
  return join(await realName(folder), ...names);
}

/** Real path of the deepest part that exists, and the rest as written. */
async function realName(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  const parent = dirname(path);
  return real ?? (parent === path ? path : join(await realName(parent), basename(path)));
}

/** Compares names alone: a path is inside itself. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** `dir` comes from `pathBelow`. False = no such folder. Errors: `outside_project` for a link, `file_unusable`. */
export async function isRealFolder(dir: string): Promise<boolean> {
  let real: string | undefined;
  try {
    real = await realpath(dir);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ELOOP') throw fileUnusable(dir, cause);
    const info = await lstat(dir).catch(() => undefined);
    if (code === 'ENOENT' && !info) return false;
    // Made since the look before.
    if (code === 'ENOENT' && !info?.isSymbolicLink()) return isRealFolder(dir);
  }
  if (real !== undefined && sameName(real, dir)) return true;
  throw new WaError('outside_project', `${dir} is a link, to ${real ?? 'nowhere'}, and links are not followed here`, {
    hint: `Remove the link ${dir}, or set WA_MAILBOX_DIR to the folder that you want.`,
  });
}

/** A system that ignores upper and lower case returns the name as it was created. */
function sameName(a: string, b: string): boolean {
  if (process.platform !== 'win32' && process.platform !== 'darwin') return a === b;
  return a.normalize().toLowerCase() === b.normalize().toLowerCase();
}

/** Undefined = no such file. Errors: `outside_project`, `file_unusable`. */
export async function readBelow(path: string, maxBytes?: number): Promise<RawFile | undefined> {
  return (await isRealFolder(dirname(path))) ? readRaw(path, maxBytes) : undefined;
}

interface Appending {
  /** A file of at least this size is first moved to `<path>.1`. */
  rotateBytes?: number;
  /** Mode 600. */
  isPrivate?: boolean;
}

/** Errors: `outside_project`, `file_unusable`. */
export async function appendBelow(
  path: string,
  text: string,
  { rotateBytes, isPrivate }: Appending = {},
): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;
  await isRealFolder(dirname(path));
  try {
    const info = rotateBytes === undefined ? undefined : await lstat(path).catch(() => undefined);
    if (info?.isFile() && info.size >= (rotateBytes ?? 0)) {
      await rename(path, `${path}.1`).catch((cause) => {
        throw fileUnusable(`${path}.1`, cause);
      });
    }
    await withOrdinary(path, { flags, mode: isPrivate ? 0o600 : 0o644 }, async (handle) => {
      if (isPrivate) await handle.chmod(0o600);
      await handle.writeFile(text);
    });
  } catch (cause) {
    throw fileUnusable(path, cause);
  }
}

/** Creates a file of mode 600, and removes an older one of this name first. Errors: `outside_project`, `file_unusable`. */
export async function createBelow(path: string): Promise<FileHandle> {
  await isRealFolder(dirname(path));
  try {
    await removeBelow(path);
    return await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  } catch (cause) {
    throw fileUnusable(path, cause);
  }
}

/** Creates a folder of this mode unless it exists. Errors: `outside_project`, `file_unusable`. */
export async function makeFolderBelow(dir: string, mode = 0o700): Promise<void> {
  if (!(await isRealFolder(dir))) {
    await mkdir(dir, { recursive: true, mode }).catch((cause) => {
      throw fileUnusable(dir, cause);
    });
  }
  if (!(await lstat(dir)).isDirectory()) {
    throw new WaError('file_unusable', `${dir} is not a folder`, { hint: `Move ${dir} away.` });
  }
}

/** Sets mode 600. Never throws: a file of another user stays as it is. */
export async function closeToOthers(path: string): Promise<void> {
  try {
    await isRealFolder(dirname(path));
    await withOrdinary(path, {}, (handle) => handle.chmod(0o600));
  } catch {
    // The mode stays.
  }
}

export interface FoundFile {
  name: string;
  sizeBytes: number;
  modifiedAtMs: number;
}

/** The ordinary files whose name `isOurs` accepts, unordered; empty for a missing folder. Errors: `outside_project`, `file_unusable`. */
export async function filesBelow(dir: string, isOurs: (name: string) => boolean): Promise<FoundFile[]> {
  const found: FoundFile[] = [];
  for (const name of await namesBelow(dir, isOurs)) {
    const info = await lstat(join(dir, name)).catch(() => undefined);
    if (info?.isFile()) found.push({ name, sizeBytes: info.size, modifiedAtMs: info.mtimeMs });
  }
  return found;
}

export async function namesBelow(dir: string, isWanted: (name: string) => boolean): Promise<string[]> {
  if (!(await isRealFolder(dir))) return [];
  const names: string[] = [];
  try {
    const folder = await opendir(dir);
    try {
      for (let entry = await folder.read(); entry && names.length < maxNames; entry = await folder.read()) {
        if (isWanted(entry.name)) names.push(entry.name);
      }
    } finally {
      await folder.close();
    }
  } catch (cause) {
    throw fileUnusable(dir, cause);
  }
  return names;
}

/** Removes this name: a file, or a link itself. Does nothing when the name is missing. Throws the error of the system. */
export async function removeBelow(path: string): Promise<void> {
  if (!(await isRealFolder(dirname(path)))) return;
  const info = await lstat(path).catch(() => undefined);
  if (!info) return;
  if (!info.isFile() && !info.isSymbolicLink()) throw notOrdinary(path);
  await unlink(path);
}
