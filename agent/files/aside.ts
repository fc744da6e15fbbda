// Keeps malformed content of one of the two files under a second name, before it is replaced. Never overwrites, never removes.

import { constants } from 'node:fs';
import { chmod, copyFile, link, rm } from 'node:fs/promises';
import { fileUnusable, writeDurably } from './atomic.ts';
import type { RawFile } from './raw-file.ts';

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
    if (isOurs) await rm(aside, { force: true }).catch(() => {});
    throw cause;
  }
}

/** A disk without links (FAT) takes a copy. */
async function secondName(path: string, aside: string): Promise<void> {
  await link(path, aside).catch((cause) => {
    if (cause.code === 'EEXIST' || cause.code === 'ENOENT') throw cause;
    return copyFile(path, aside, constants.COPYFILE_EXCL);
  });
  await chmod(aside, 0o600).catch(() => {});
}
