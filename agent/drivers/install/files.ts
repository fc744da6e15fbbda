// Files of an installer outside of projects, in the home folder and in the data directory, where links are the user's own. What an
// installation made stands in `installed.json` of the agent's folder of launchers, so that the removal leaves no trace.

import { createHash } from 'node:crypto';
import { mkdir, readdir, realpath, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Node } from 'jsonc-parser';
import { WaError } from '../../../protocol/errors.ts';
import { fileLimits } from '../../../protocol/limits.ts';
import { fileUnusable, writeAtomic } from '../../fs/atomic.ts';
import { readLinked } from '../../fs/raw-file.ts';
import { parseJson, remove } from './json-text.ts';

export interface WantedFile {
  path: string;
  text: string;
  mode: number;
}

/** The text of a file; undefined for a missing file, or one above the limit of settings. Errors: `file_unusable`. */
export async function textOf(path: string): Promise<string | undefined> {
  const found = await readLinked(path, fileLimits.fileBytes);
  return found && !found.oversized ? found.bytes.toString('utf8') : undefined;
}

/** Writes a file with its folders; a file that is as wanted stays untouched. Adds to `made` each new folder. Errors: `file_unusable`. */
export async function ensureFile({ path, text, mode }: WantedFile, made: Set<string>): Promise<void> {
  await makeFolders(dirname(path), made);
  const found = await readLinked(path, fileLimits.fileBytes);
  if (found?.mode === mode && found.bytes.equals(Buffer.from(text))) return;
  await writeAtomic(await behindLink(path), text, undefined, mode);
}

/** Adds to `made` each new folder. Errors: `file_unusable`. */
export async function makeFolders(dir: string, made: Set<string>): Promise<void> {
  const topmost = await mkdir(dir, { recursive: true }).catch((cause) => {
    throw fileUnusable(dir, cause);
  });
  for (let at = dir; topmost !== undefined && at.length >= topmost.length; at = dirname(at)) made.add(at);
}

/** Removes a file or a folder with its content. Errors: `file_unusable`. */
export async function removeTree(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch((cause) => {
    throw fileUnusable(path, cause);
  });
}

/** Removes the folders in `dir` whose name `isKept` refuses. Errors: `file_unusable`. */
export async function removeFolders(dir: string, isKept: (name: string) => boolean): Promise<void> {
  const entries = await readdir(dir, { withFileTypes: true }).catch((cause) => {
    if (cause.code === 'ENOENT') return [];
    throw fileUnusable(dir, cause);
  });
  for (const entry of entries) {
    if (entry.isDirectory() && !isKept(entry.name)) await removeTree(join(dir, entry.name));
  }
}

/**
 * Removes what `find` names in a JSON file in which a coding agent remembers hooks or extensions, and the file itself when nothing
 * else stands there. An unreadable file stays as it is. Errors: `file_unusable`.
 */
export async function forget(path: string, find: (root: Node) => Node | undefined): Promise<void> {
  const found = await readLinked(path, fileLimits.fileBytes);
  let text = found?.bytes.toString('utf8') ?? '';
  try {
    for (let node = find(parseJson(text)); node; node = find(parseJson(text))) text = remove(text, node);
  } catch {
    return;
  }
  if (!found || found.bytes.equals(Buffer.from(text))) return;
  if (isEmptyObject(text)) await removeTree(path);
  else await writeAtomic(await behindLink(path), text, undefined, found.mode);
}

export const isEmptyObject = (text: string) => /^\s*\{\s*\}\s*$/.test(text);

export const behindLink = (path: string) => realpath(path).catch(() => path);

/** The settings file of a project. */
export interface ProjectRecord {
  /** The text before the installation; undefined = no file. */
  before?: string | undefined;
  /** Digest of the text that the installation wrote. */
  written: string;
}

export interface InstallRecord {
  /** Folders that an installation made. */
  made: Set<string>;
  /** By the folder of the project, or by what else the agent keeps apart. */
  projects: Record<string, ProjectRecord>;
}

export const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');

const format = 1;

const recordFile = (hooksDir: string) => join(hooksDir, 'installed.json');

/** Larger than the settings of many projects. */
const maxRecordBytes = 64 * 1024 * 1024;

/** Empty when nothing is installed. Errors: `file_unusable`, also for a record of another form. */
export async function readRecord(hooksDir: string): Promise<InstallRecord> {
  const path = recordFile(hooksDir);
  const found = await readLinked(path, maxRecordBytes);
  if (!found) return { made: new Set(), projects: {} };
  try {
    const record = JSON.parse(found.bytes.toString('utf8'));
    if (record.format !== format) throw new TypeError(`the format is ${record.format} and not ${format}`);
    return { made: new Set(record.made), projects: { ...record.projects } };
  } catch (cause) {
    throw new WaError('file_unusable', `${path} is not what this version of wa-sync writes`, {
      hint: `Remove ${path}, then run the command again. A removal may then leave folders behind.`,
      cause,
    });
  }
}

export async function writeRecord(hooksDir: string, { made, projects }: InstallRecord): Promise<void> {
  const text = `${JSON.stringify({ format, made: [...made], projects }, null, 2)}\n`;
  await ensureFile({ path: recordFile(hooksDir), text, mode: 0o600 }, made);
}

/** Errors: `file_unusable`. */
export const removeRecord = (hooksDir: string) => removeTree(recordFile(hooksDir));

/** Removes the folders that are empty now, and their names from `made`. */
export async function removeEmpty(made: Set<string>): Promise<void> {
  for (const dir of [...made].sort().reverse()) {
    const isGone = await rmdir(dir).then(
      () => true,
      (cause) => cause.code === 'ENOENT',
    );
    if (isGone) made.delete(dir);
  }
}
