// Finds the git folder that a working tree belongs to. Takes nothing for one that git itself would not: a `.git` of a project may
// be anything, and what is found here is written to.

import { lstat, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { pathBelow } from './below.ts';
import { readRaw } from './raw-file.ts';

/** A path and a few words. */
const maxPointerBytes = 8 * 1024;

/** The git folder of the working tree whose root is `dir`, by its real name. Undefined = `dir` is no such root. Never throws. */
export async function gitFolderAt(dir: string): Promise<string | undefined> {
  const path = join(dir, '.git');
  const info = await stat(path).catch(() => undefined);
  const folder = info?.isFile() ? await commonFolder(path) : info?.isDirectory() ? path : undefined;
  return folder !== undefined && (await isGitFolder(folder)) ? pathBelow(folder) : undefined;
}

/** The one of the nearest working tree above. Never throws. */
export async function findGitFolder(from: string): Promise<string | undefined> {
  for (let dir = from; ; dir = dirname(dir)) {
    const found = await gitFolderAt(dir);
    if (found !== undefined || dirname(dir) === dir) return found;
  }
}

/** As git looks: an empty `.git` makes no repository. */
async function isGitFolder(dir: string): Promise<boolean> {
  const isFolder = async (name: string) => (await stat(join(dir, name)).catch(() => undefined))?.isDirectory() === true;
  const head = await lstat(join(dir, 'HEAD')).catch(() => undefined);
  return head !== undefined && !head.isDirectory() && (await isFolder('objects')) && (await isFolder('refs'));
}

/** A worktree's `.git` is a file that names its own git folder, which names the common one: only that one's exclude counts. */
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
