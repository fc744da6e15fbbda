// Keeps malformed content of one of the two files under a second name, before it is replaced. Never overwrites; removes only
// the oldest of its own copies.

import { constants } from 'node:fs';
import { copyFile, link } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileUnusable, writeDurably } from './atomic.ts';
import { closeToOthers, filesBelow, removeBelow } from './below.ts';
import type { RawFile } from './raw-file.ts';

/** Of each file: a program that writes malformed content again and again must not fill the disk. */
const keptCopies = 5;

const copyForm = /^(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z)(?:-(\d+))?$/;

/**
 * `<path>.corrupt-<time>` with the bytes that were read, whoever replaces the file meanwhile. Undefined = too large to have
 * been read, and gone. Errors: `file_unusable`.
 */
export async function keepAside(path: string, file: RawFile, now: number): Promise<string | undefined> {
  const stamp = new Date(now).toISOString().replaceAll(/[:.]/g, '-');
  for (let number = 0; ; number += 1) {
    const aside = `${path}.corrupt-${stamp}${number === 0 ? '' : `-${number}`}`;
    try {
      await (file.oversized ? secondName(path, aside) : copyOf(file, aside));
      await removeOldest(path, aside).catch(() => {});
      return aside;
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code === 'EEXIST') continue;
      if (file.oversized && code === 'ENOENT') return undefined;
      throw fileUnusable(path, cause);
    }
  }
}

async function copyOf(file: RawFile, aside: string): Promise<void> {
  try {
    await writeDurably(aside, file.bytes);
  } catch (cause) {
    const isOurs = (cause as NodeJS.ErrnoException).code !== 'EEXIST';
    if (isOurs) await removeBelow(aside).catch(() => {});
    throw cause;
  }
}

/** A disk without links (FAT) takes a copy. */
async function secondName(path: string, aside: string): Promise<void> {
  await link(path, aside).catch((cause) => {
    if (cause.code === 'EEXIST' || cause.code === 'ENOENT') throw cause;
    return copyFile(path, aside, constants.COPYFILE_EXCL);
  });
  await closeToOthers(aside);
}

/** By the time in the name; the copy that was made just now stays, whatever time others claim. */
async function removeOldest(path: string, newest: string): Promise<void> {
  const prefix = `${basename(path)}.corrupt-`;
  const partsOf = (name: string) => (name.startsWith(prefix) ? copyForm.exec(name.slice(prefix.length)) : null);
  const copies = await filesBelow(dirname(path), (name) => partsOf(name) !== null && name !== basename(newest));
  const ageOrder = (name: string) => `${partsOf(name)?.[1]}${(partsOf(name)?.[2] ?? '').padStart(12, '0')}`;
  const newestFirst = copies.map(({ name }) => name).sort((a, b) => (ageOrder(a) < ageOrder(b) ? 1 : -1));
  for (const name of newestFirst.slice(keptCopies - 1)) await removeBelow(join(dirname(path), name));
}
