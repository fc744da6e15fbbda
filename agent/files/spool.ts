// What hooks leave for the daemon when it is not there or a file cannot be written: one small file per record, in order of time.
// It has several folders, because the disk of one may be full; a record lies in the first that takes it.

import { link, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { fileUnusable, syncFolder, temporaryPath, writeDurably } from './atomic.ts';
import { readRaw } from './raw-file.ts';

export interface Spooled {
  path: string;
  record: unknown;
}

/** Its path. Errors: `file_unusable` of the last folder. Durable when it resolves; a reader sees the whole record or none. */
export async function writeSpool(dirs: readonly string[], record: object): Promise<string> {
  for (let at = 0; ; at += 1) {
    try {
      return await writeInto(dirs[at] as string, record);
    } catch (cause) {
      if (at + 1 >= dirs.length) throw cause;
    }
  }
}

async function writeInto(dir: string, record: object): Promise<string> {
  const temporary = temporaryPath(join(dir, 'record'));
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await writeDurably(temporary, JSON.stringify(record));
    const path = await nameRecord(dir, temporary);
    await syncFolder(dir);
    return path;
  } catch (cause) {
    throw cause instanceof WaError ? cause : fileUnusable(dir, cause);
  } finally {
    await rm(temporary, { force: true }).catch(() => {});
  }
}

async function nameRecord(dir: string, temporary: string): Promise<string> {
  const time = String(Date.now()).padStart(15, '0');
  for (let number = 0; ; number += 1) {
    const path = join(dir, `${time}-${process.pid}-${String(number).padStart(4, '0')}.json`);
    try {
      await link(temporary, path);
      return path;
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code === 'EEXIST') continue;
      if (code === 'ENOSPC' || code === 'EIO') throw cause;
      // A disk without links: no other process has our pid, and the look keeps us from our own records.
      if (await readRaw(path)) continue;
      await rename(temporary, path);
      return path;
    }
  }
}

/**
 * Oldest first. What is no JSON was torn by a crash; it is put into `broken/`, never removed. What cannot be read stays
 * where it is and counts as broken. Errors: `file_unusable` when a folder cannot be read.
 */
export async function readSpool(dirs: readonly string[]): Promise<{ records: Spooled[]; broken: number }> {
  const records: Spooled[] = [];
  const paths: string[] = [];
  let broken = 0;
  for (const dir of dirs)
    for (const name of await namesIn(dir)) if (name.endsWith('.json')) paths.push(join(dir, name));
  for (const path of paths.sort((a, b) => (isBefore(a, b) ? -1 : 1))) {
    try {
      const file = await readRaw(path);
      if (file) records.push({ path, record: JSON.parse(file.bytes.toString('utf8')) });
    } catch (cause) {
      broken += 1;
      if (cause instanceof SyntaxError) await setSpooledAside(path);
    }
  }
  return { records, broken };
}

/** Whether the record at this path was written before the other. */
export function isBefore(path: string, other: string): boolean {
  return basename(path) < basename(other);
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function namesIn(dir: string): Promise<string[]> {
  try {
    return await readdir(dir);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // What stands in the place of a folder above is another part's trouble.
    if (code === 'ENOENT' || (code === 'ENOTDIR' && !(await exists(dir)))) return [];
    throw fileUnusable(dir, cause);
  }
}

/** Into `broken/`: what cannot be used is never removed. */
export async function setSpooledAside(path: string): Promise<void> {
  const aside = join(dirname(path), 'broken');
  await mkdir(aside, { recursive: true, mode: 0o700 }).catch(() => {});
  await rename(path, join(aside, basename(path))).catch(() => {});
}

export async function removeSpooled(path: string): Promise<void> {
  await rm(path, { force: true });
}
