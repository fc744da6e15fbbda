// Hooks in a settings file of a project. Owns only the entries of wa-sync in that file. The file may come from a clone: this code follows no
// link, waits for no pipe, and reads at most the size of a settings file.

import { dirname, join } from 'node:path';
import { WaError } from '../../../protocol/errors.ts';
import { fileLimits } from '../../../protocol/limits.ts';
import { fileUnusable, writeAtomic } from '../../fs/atomic.ts';
import { isRealFolder, makeFolderBelow, pathBelow, readBelow, removeBelow } from '../../fs/below.ts';
import { type RawFile, sameContent } from '../../fs/raw-file.ts';
import type { InstallDirs } from '../workstation.ts';
import { digestOf, type InstallRecord, isEmptyObject, type ProjectRecord, writeRecord } from './files.ts';
import { type HookTable, settingsProblem, withHooks, withoutHooks } from './settings.ts';

/** The settings file of an agent in a project. */
export interface ProjectSettings {
  agent: string;
  /** Folder and name below the project. */
  path: readonly [folder: string, name: string];
  table: HookTable;
  /** Below the data directory. */
  hooksFolder: string;
  /** How a person finds the entries of wa-sync. */
  named: string;
}

export const projectFile = (projectDir: string, { path }: ProjectSettings) => join(projectDir, ...path);

const insteadOf = ({ agent }: ProjectSettings) =>
  `run \`wa-sync hooks install --agent ${agent} --scope user\`, which leaves that file alone`;

/**
 * Installs or upgrades. Writes the record before the first change, so that an interrupted installation can be removed too. Errors:
 * `settings_unreadable`, `outside_project`, `file_unusable`.
 */
export async function installInProject(
  dirs: InstallDirs,
  record: InstallRecord,
  settings: ProjectSettings,
): Promise<void> {
  const { projectDir, dataDir } = dirs;
  const { table } = settings;
  if (!(await isRealFolder(await pathBelow(projectDir)))) {
    throw new WaError('file_unusable', `${projectDir} does not exist or is not a folder`, {
      hint: 'Name the folder of an existing project.',
    });
  }
  const { file, raw, text } = await readSettings(projectDir, settings);
  const problem = text === undefined ? undefined : settingsProblem(text, table);
  if (problem !== undefined) {
    throw new WaError('settings_unreadable', `${file} cannot be edited: ${problem}`, {
      hint: `R${insteadOf(settings).slice(1)}.`,
    });
  }
  const edited = withHooks(text, dirs, table);
  if (!(await isRealFolder(dirname(file)))) record.made.add(dirname(file));
  const before = textWithout(text, record.projects[projectDir], table);
  record.projects[projectDir] = { before, written: digestOf(edited) };
  await writeRecord(join(dataDir, settings.hooksFolder), record);
  if (edited === text) return;
  await makeFolderBelow(dirname(file), 0o755);
  await writeUnchanged(file, raw, edited);
}

/** Returns whether hooks were installed; false for a missing project or file. Errors as `installInProject`. */
export async function uninstallFromProject(
  dir: string,
  record: ProjectRecord | undefined,
  settings: ProjectSettings,
): Promise<boolean> {
  const { table, named } = settings;
  const { file, raw, text } = await readSettings(dir, settings);
  if (text === undefined) return false;
  const problem = settingsProblem(text, table);
  if (problem !== undefined && !text.includes(named)) return false;
  if (problem !== undefined) {
    throw new WaError('settings_unreadable', `${file} cannot be edited: ${problem}`, {
      hint: `Delete the hooks with ${named} there by hand; without the launcher the hooks do nothing.`,
    });
  }
  const rest = textWithout(text, record, table);
  if (rest === text) return false;
  if (rest !== undefined) await writeUnchanged(file, raw, rest);
  else {
    await removeBelow(file).catch((cause) => {
      throw cause instanceof WaError ? cause : fileUnusable(file, cause);
    });
  }
  return true;
}

/** The settings without wa-sync: the text before the installation, unless the file has changed since. Undefined = no file. */
export function textWithout(
  text: string | undefined,
  record: ProjectRecord | undefined,
  table: HookTable,
): string | undefined {
  if (text === undefined) return undefined;
  if (record?.written === digestOf(text)) return record.before;
  const rest = withoutHooks(text, record?.before, table);
  return record && record.before === undefined && isEmptyObject(rest) ? undefined : rest;
}

interface Settings {
  file: string;
  raw: RawFile | undefined;
  /** Undefined = no file. */
  text: string | undefined;
}

/** Errors: `settings_unreadable`, `outside_project`, `file_unusable`. */
export async function readSettings(dir: string, settings: ProjectSettings): Promise<Settings> {
  const file = await pathBelow(dir, ...settings.path);
  const instead = insteadOf(settings);
  let raw: RawFile | undefined;
  try {
    raw = await readBelow(file);
  } catch (cause) {
    if (!(cause instanceof WaError)) throw cause;
    const repair = cause.code === 'outside_project' ? `Replace the link ${dirname(file)} by a folder.` : cause.hint;
    throw new WaError(cause.code, cause.message, { hint: `${repair} Or ${instead}.`, cause });
  }
  if (raw?.oversized) {
    throw new WaError('settings_unreadable', `${file} is larger than ${fileLimits.fileBytes} bytes`, {
      hint: `Make it smaller. Or ${instead}.`,
    });
  }
  return { file, raw, text: raw?.bytes.toString('utf8') };
}

// The coding agent and editors write this file too: a change since the read must survive.
async function writeUnchanged(file: string, before: RawFile | undefined, after: string): Promise<void> {
  const isUnchanged = async () => sameContent(before, await readBelow(file));
  if (await writeAtomic(file, after, isUnchanged, before?.mode ?? 0o644)) return;
  throw new WaError('file_unusable', `${file} was changed by another program at the same moment`, {
    hint: 'Run the command again.',
    retryable: true,
  });
}
