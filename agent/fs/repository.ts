// Finds the repository around a folder by names alone, without git.

import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** `dir` first, then each folder above it. */
export function foldersFrom(dir: string): string[] {
  const above = dirname(dir);
  return above === dir ? [dir] : [dir, ...foldersFrom(above)];
}

/** The nearest of these folders that holds `.git`, whatever that is; undefined = none. */
export async function repositoryTop(dir: string): Promise<string | undefined> {
  for (const folder of foldersFrom(dir)) {
    if (await lstat(join(folder, '.git')).catch(() => undefined)) return folder;
  }
  return undefined;
}
