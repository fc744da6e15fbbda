// Finds the git folder of a working tree. Accepts only what git itself would accept: a `.git` of a project may be anything, and
// wa-sync writes into the folder that it finds.

import { lstat, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { pathBelow } from './below.ts';
import { readRaw } from './raw-file.ts';

/** Enough for a path and a few words. */
const maxPointerBytes = 8 * 1024;

/** The git folder of the working tree with the root `dir`, by its real path. Undefined = `dir` is not a root. Never throws. */
export async function gitFolderAt(dir: string): Promise<string | undefined> {
  const path = join(dir, '.git');
  const info = await stat(path).catch(() => undefined);
  const folder = info?.isFile() ? await commonFolder(path) : info?.isDirectory() ? path : undefined;
  return folder !== undefined && (await isGitFolder(folder)) ? pathBelow(folder) : undefined;
}

/** The git folder of the nearest working tree above. Never throws. */
export async function findGitFolder(from: string): Promise<string | undefined> {
  for (let dir = from; ; dir = dirname(dir)) {
    const found = await gitFolderAt(dir);
    if (found !== undefined || dirname(dir) === dir) return found;
  }
}

/** The check of git: an empty `.git` is not a repository. */
async function isGitFolder(dir: string): Promise<boolean> {
  const isFolder = async (name: string) => (await stat(join(dir, name)).catch(() => undefined))?.isDirectory() === true;
  const head = await lstat(join(dir, 'HEAD')).catch(() => undefined);
  return head !== undefined && !head.isDirectory() && (await isFolder('objects')) && (await isFolder('refs'));
}

/**
 * The `.git` of a worktree is a file that names the git folder of the worktree, which names the common one. Only the exclude file
 * of the common folder counts.
 */
async function commonFolder(gitFile: string): Promise<string | undefined> {
  const named = /^gitdir: (.+)$/m.exec((await readPointer(gitFile)) ?? '')?.[1]?.trim();
  if (!named) return undefined;
  const own = isAbsolute(named) ? named : resolve(dirname(gitFile), named);
  const common = await readPointer(join(own, 'commondir'));
  return common === undefined ? own : resolve(own, common.trim());
}

async function readPointer(path: string): Promise<string | undefined> {
  const file = await readRaw(path, maxPointerBytes).catch(() => undefined);
  return file && !file.oversized ? file.bytes.toString('utf8') : undefined;
}
