// Installs, removes and lists the hooks of wa-sync in Claude Code's settings files, and keeps the copies of the launcher that the hooks run.
// Takes every folder as an argument; an uninstall must leave no trace.

import { dirname, join } from 'node:path';
import { WaError } from '../../../protocol/errors.ts';
import { fileLimits } from '../../../protocol/limits.ts';
import { writeAtomic } from '../../fs/atomic.ts';
import { type RawFile, readLinked, sameContent } from '../../fs/raw-file.ts';
import type { HookScope, HookStatus, InstallDirs } from '../driver.ts';
import {
  behindLink,
  digestOf,
  ensureFile,
  type InstallRecord,
  makeFolders,
  readRecord,
  removeEmpty,
  removeFolders,
  removeRecord,
  removeTree,
  writeRecord,
} from '../install/files.ts';
import { type Found, launcherFiles, statusOf } from '../install/launcher.ts';
import { installInProject, projectFile, readSettings, textWithout, uninstallFromProject } from '../install/project.ts';
import { ownCommands, settingsProblem, withHooks } from '../install/settings.ts';
import { claude } from './driver.ts';
import { hooksDir, hookTable, projectSettings } from './install-table.ts';

/** `dirs.home` is the folder that holds `.claude`, or with `CLAUDE_CONFIG_DIR` that folder's parent; see `homeOf`. */
export const userFile = ({ home, env }: Pick<InstallDirs, 'home' | 'env'>) =>
  join(env?.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'settings.json');

/** Installs or upgrades; a second run changes nothing. Errors: `settings_unreadable`, `outside_project`, `file_unusable`. */
export async function installHooks(dirs: InstallDirs, scope: HookScope): Promise<HookStatus> {
  const record = await readRecord(hooksDir(dirs));
  const inUse = await commandsInUse(dirs, record);
  try {
    for (const file of await launcherFiles(dirs, hooksDir(dirs), 'claude')) await ensureFile(file, record.made);
    if (scope === 'project') await installInProject(dirs, record, projectSettings);
    else await installForUser(dirs, record);
  } finally {
    // A running session still calls the launcher of its start; the next change removes that version.
    await settle(dirs, record, inUse);
  }
  return statusAt(dirs, scope, scope === 'user' ? userFile(dirs) : dirs.projectDir);
}

/** Removes one scope, or without a scope every installation. Returns the places. Errors as `installHooks`, after the rest is done. */
export async function uninstallHooks(dirs: InstallDirs, scope: HookScope | undefined): Promise<string[]> {
  const record = await readRecord(hooksDir(dirs));
  const removed: string[] = [];
  const failures: unknown[] = [];
  const attempt = async (place: string, uninstall: () => Promise<boolean>) => {
    try {
      if (await uninstall()) removed.push(place);
    } catch (error) {
      failures.push(error);
    }
  };
  const users = scope === 'project' ? [] : [...new Set([userFile(dirs), ...userFilesOf(record)])];
  for (const path of users) await attempt(path, () => uninstallForUser(path, record));
  const projects = scope === 'user' ? [] : scope === 'project' ? [dirs.projectDir] : knownProjects(dirs, record);
  for (const project of projects) {
    await attempt(projectFile(project, projectSettings), async () => {
      // Without a scope, unreadable settings of a folder where nothing was installed are not an error.
      if (scope === undefined && !record.projects[project] && (await lookAt(dirs, 'project', project)).problem)
        return false;
      const found = await uninstallFromProject(project, record.projects[project], projectSettings);
      delete record.projects[project];
      return found;
    });
  }
  await settle(dirs, record, [], failures.length > 0);
  if (failures.length > 0) throw failures[0];
  return removed;
}

/** The user's settings, the current project, and every other project that has hooks of wa-sync, or may have them. */
export async function listHooks(dirs: InstallDirs): Promise<HookStatus[]> {
  const known = knownProjects(dirs, await readRecord(hooksDir(dirs)));
  const projects = await Promise.all(known.map((project) => statusAt(dirs, 'project', project)));
  const here = projectFile(dirs.projectDir, projectSettings);
  return [
    await statusAt(dirs, 'user', userFile(dirs)),
    ...projects.filter(({ installed, problem, place }) => installed || problem !== undefined || place === here),
  ];
}

/** A settings file of the user is known in the record by its path with this mark before it. */
const userMark = 'user:';

const userFilesOf = ({ projects }: InstallRecord) =>
  Object.keys(projects).flatMap((key) => (key.startsWith(userMark) ? key.slice(userMark.length) : []));

function knownProjects({ projectDir }: InstallDirs, { projects }: InstallRecord): string[] {
  return [...new Set([projectDir, ...Object.keys(projects).filter((key) => !key.startsWith(userMark))])];
}

async function installForUser(dirs: InstallDirs, record: InstallRecord): Promise<void> {
  const path = userFile(dirs);
  const { raw, text } = await readUser(path);
  const problem = text === undefined ? undefined : settingsProblem(text, hookTable);
  if (problem !== undefined) {
    throw new WaError('settings_unreadable', `${path} cannot be edited: ${problem}`, {
      hint: 'Correct it in an editor, then run the command again. Claude Code ignores such a file, too.',
    });
  }
  const edited = withHooks(text, dirs, hookTable);
  await makeFolders(dirname(path), record.made);
  const key = userMark + path;
  record.projects[key] = { before: textWithout(text, record.projects[key], hookTable), written: digestOf(edited) };
  // Before the change, so that an interrupted installation can be removed too.
  await writeRecord(hooksDir(dirs), record);
  if (edited !== text) await writeUser(path, raw, edited);
}

async function uninstallForUser(path: string, record: InstallRecord): Promise<boolean> {
  const key = userMark + path;
  const { raw, text } = await readUser(path);
  if (text !== undefined) {
    const problem = settingsProblem(text, hookTable);
    if (problem !== undefined && text.includes(projectSettings.named)) {
      throw new WaError('settings_unreadable', `${path} cannot be edited: ${problem}`, {
        hint: `Delete the hooks with ${projectSettings.named} there by hand; without the launcher the hooks do nothing.`,
      });
    }
    const rest = problem === undefined ? textWithout(text, record.projects[key], hookTable) : text;
    delete record.projects[key];
    if (rest === text) return false;
    if (rest === undefined) await removeTree(await behindLink(path));
    else await writeUser(path, raw, rest);
    return true;
  }
  delete record.projects[key];
  return false;
}

async function readUser(path: string): Promise<{ raw: RawFile | undefined; text: string | undefined }> {
  const raw = await readLinked(path, fileLimits.fileBytes);
  if (raw?.oversized) {
    throw new WaError('settings_unreadable', `${path} is larger than ${fileLimits.fileBytes} bytes`, {
      hint: 'Make it smaller, then run the command again.',
    });
  }
  return { raw, text: raw?.bytes.toString('utf8') };
}

// Claude Code and editors write this file too: a change since the read must survive.
async function writeUser(path: string, before: RawFile | undefined, after: string): Promise<void> {
  const isUnchanged = async () => sameContent(before, (await readUser(path)).raw);
  if (await writeAtomic(await behindLink(path), after, isUnchanged, before?.mode ?? 0o600)) return;
  throw new WaError('file_unusable', `${path} was changed by another program at the same moment`, {
    hint: 'Run the command again.',
    retryable: true,
  });
}

/** `at` = the file of the scope `user`, else the folder of a project. */
async function lookAt(dirs: InstallDirs, scope: HookScope, at: string): Promise<Found> {
  try {
    const { text = '' } = scope === 'user' ? await readUser(at) : await readSettings(at, projectSettings);
    const commands = ownCommands(text, hookTable);
    return { commands, current: commands.length > 0 && withHooks(text, dirs, hookTable) === text };
  } catch (cause) {
    if (!(cause instanceof WaError)) throw cause;
    return { commands: [], current: false, problem: `${cause.message}. ${cause.hint ?? ''}` };
  }
}

/** The commands of all installed hooks. Undefined = not known, since settings cannot be read. */
async function commandsInUse(dirs: InstallDirs, record: InstallRecord): Promise<string[] | undefined> {
  const commands: string[] = [];
  for (const file of new Set([userFile(dirs), ...userFilesOf(record)])) {
    const found = await lookAt(dirs, 'user', file);
    if (found.problem !== undefined && record.projects[userMark + file]) return undefined;
    commands.push(...found.commands);
  }
  for (const project of knownProjects(dirs, record)) {
    const found = await lookAt(dirs, 'project', project);
    if (found.problem !== undefined && record.projects[project]) return undefined;
    commands.push(...found.commands);
  }
  return commands;
}

/** Removes launchers that no hook runs and folders that are empty now, and writes the record while something is installed. */
async function settle(
  dirs: InstallDirs,
  record: InstallRecord,
  before: string[] | undefined,
  hasFailed = false,
): Promise<void> {
  const now = await commandsInUse(dirs, record);
  if (now && before) {
    const commands = [...now, ...before];
    await removeFolders(hooksDir(dirs), (version) => commands.some((command) => command.includes(version)));
  }
  const isInstalled = Object.keys(record.projects).length > 0;
  if (!isInstalled && !hasFailed) await removeRecord(hooksDir(dirs));
  await removeEmpty(record.made);
  if (isInstalled || hasFailed) await writeRecord(hooksDir(dirs), record);
}

async function statusAt(dirs: InstallDirs, scope: HookScope, at: string): Promise<HookStatus> {
  const place = scope === 'user' ? at : projectFile(at, projectSettings);
  return statusOf(dirs, { agent: claude.name, scope, place }, await lookAt(dirs, scope, at));
}
