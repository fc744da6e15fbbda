// File access of the installer in the home folder, where links are the user's own: atomic writes that keep the mode of a file, and
// removal of the folders that the installer created. Touches nothing below a project (see install-project.ts).

import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { WaError } from '../../../protocol/errors.ts';

/** The text of a file; undefined = no such file. Throws `file_unusable` for every other failure. */
export function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw unusable('read', file, error);
  }
}

/** Replaces a file whole or not at all. Follows a symbolic link; an existing file keeps its mode. Throws `file_unusable`. */
export function writeWhole(file: string, bytes: string | Uint8Array, newMode = 0o644): void {
  const target = followLink(file);
  const temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const mode = modeOf(target) ?? newMode;
    const fd = openSync(temporary, 'wx', mode);
    try {
      writeFileSync(fd, bytes);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    chmodSync(temporary, mode);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw unusable('write', file, error);
  }
}

/** Like `writeWhole`, but does not touch a file that already has these bytes and this mode. */
export function ensureFile(file: string, bytes: Uint8Array, mode: number): void {
  try {
    if (modeOf(file) === mode && readFileSync(file).equals(bytes)) return;
    rmSync(file, { force: true });
  } catch (error) {
    throw unusable('replace', file, error);
  }
  writeWhole(file, bytes, mode);
}

/** Returns the topmost folder that was created, for `removeEmpty`. */
export function makeFolder(dir: string): string | undefined {
  try {
    return mkdirSync(dir, { recursive: true });
  } catch (error) {
    throw unusable('make', dir, error);
  }
}

/** Removes `dir` and its parents up to and including `top` while they are empty; `top` undefined removes nothing. */
export function removeEmpty(dir: string, top: string | undefined): void {
  if (top === undefined) return;
  for (let at = dir; at.startsWith(top); at = dirname(at)) {
    try {
      rmdirSync(at);
    } catch (error) {
      if (!isAbsent(error)) return;
    }
  }
}

export function removeTree(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    throw unusable('remove', path, error);
  }
}

export function unusable(verb: string, path: string, cause: unknown): WaError {
  const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  const hint = 'Give yourself the right to read and write that place, then run the command again.';
  return new WaError('file_unusable', `Cannot ${verb} ${path}: ${reason}`, { hint, cause });
}

export function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

function followLink(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

function modeOf(file: string): number | undefined {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode;
  return mode === undefined ? undefined : mode & 0o7777;
}
