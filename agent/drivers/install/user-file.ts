// Hooks in a settings file in the home folder, where a link is the user's own: the file behind a link is edited, and the link stays. Owns only
// the entries of wa-sync in that file.

import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { WaError } from '../../../protocol/errors.ts';
import { fileLimits } from '../../../protocol/limits.ts';
import { writeAtomic } from '../../fs/atomic.ts';
import { type RawFile, readLinked, sameContent } from '../../fs/raw-file.ts';
import type { InstallDirs } from '../workstation.ts';
import { behindLink, digestOf, type InstallRecord, makeFolders, removeTree, writeRecord } from './files.ts';
import { type UserPlaces, userMark } from './installer.ts';
import { type ProjectSettings, textWithout } from './project.ts';
import { type HookTable, ownCommands, settingsProblem, withHooks } from './settings.ts';

interface UserFileParts {
  /** Its table, its folder of launchers, and how a person finds its entries are those of a project. */
  settings: ProjectSettings;
  pathOf(dirs: InstallDirs): string;
  /** After a file that an installation made is removed. Never rejects. */
  forget?(path: string): Promise<void>;
}

export function userFile({ settings, pathOf, forget }: UserFileParts): UserPlaces {
  const { table, hooksFolder, named } = settings;
  return {
    place: pathOf,
    known: (dirs, record) => [...new Set([pathOf(dirs), ...recorded(record)])],
    isRecorded: (path, { projects }) => projects[userMark + path] !== undefined,

    async install(dirs, record) {
      const path = pathOf(dirs);
      const { raw, text } = await read(path);
      if (!raw) await refuseLostLink(path);
      const problem = text === undefined ? undefined : settingsProblem(text, table);
      if (problem !== undefined) {
        throw new WaError('settings_unreadable', `${path} cannot be edited: ${problem}`, {
          hint: 'Correct it in an editor, or move it away, then run the command again.',
        });
      }
      const edited = withHooks(text, dirs, table);
      await makeFolders(dirname(path), record.made);
      const key = userMark + path;
      record.projects[key] = { before: textWithout(text, record.projects[key], table), written: digestOf(edited) };
      // Before the change, so that an interrupted installation can be removed too.
      await writeRecord(join(dirs.dataDir, hooksFolder), record);
      if (edited !== text) await writeUnchanged(path, raw, edited);
    },

    async uninstall(_dirs, record, path) {
      const { raw, text } = await read(path);
      const rest = text === undefined ? undefined : restOf(text, path, record, { table, named });
      delete record.projects[userMark + path];
      if (rest === text) return false;
      if (rest !== undefined) await writeUnchanged(path, raw, rest);
      else {
        await removeTree(await behindLink(path));
        await forget?.(path);
      }
      return true;
    },

    async find(dirs, path) {
      const { text = '' } = await read(path);
      const commands = ownCommands(text, table);
      return { commands, current: commands.length > 0 && withHooks(text, dirs, table) === text };
    },
  };
}

const recorded = ({ projects }: InstallRecord) =>
  Object.keys(projects).flatMap((key) => (key.startsWith(userMark) ? key.slice(userMark.length) : []));

/** The text without wa-sync; undefined = no file. Errors: `settings_unreadable` where hooks may stand in a damaged file. */
function restOf(
  text: string,
  path: string,
  { projects }: InstallRecord,
  { table, named }: { table: HookTable; named: string },
): string | undefined {
  const problem = settingsProblem(text, table);
  if (problem === undefined) return textWithout(text, projects[userMark + path], table);
  if (!text.includes(named)) return text;
  throw new WaError('settings_unreadable', `${path} cannot be edited: ${problem}`, {
    hint: `Delete the hooks with ${named} there by hand; without the launcher the hooks do nothing.`,
  });
}

/** Errors: `settings_unreadable`, `file_unusable`. */
async function read(path: string): Promise<{ raw: RawFile | undefined; text: string | undefined }> {
  const raw = await readLinked(path, fileLimits.fileBytes);
  if (raw?.oversized) {
    throw new WaError('settings_unreadable', `${path} is larger than ${fileLimits.fileBytes} bytes`, {
      hint: 'Make it smaller, then run the command again.',
    });
  }
  return { raw, text: raw?.bytes.toString('utf8') };
}

/** A file in place of the link would take the link away. */
async function refuseLostLink(path: string): Promise<void> {
  if (!(await lstat(path).catch(() => undefined))?.isSymbolicLink()) return;
  throw new WaError('file_unusable', `${path} is a link to a file that does not exist`, {
    hint: 'Make that file, or remove the link, then run the command again.',
  });
}

// The coding agent and editors write this file too: a change since the read must survive.
async function writeUnchanged(path: string, before: RawFile | undefined, after: string): Promise<void> {
  const isUnchanged = async () => sameContent(before, (await read(path)).raw);
  if (await writeAtomic(await behindLink(path), after, isUnchanged, before?.mode ?? 0o600)) return;
  throw new WaError('file_unusable', `${path} was changed by another program at the same moment`, {
    hint: 'Run the command again.',
    retryable: true,
  });
}
