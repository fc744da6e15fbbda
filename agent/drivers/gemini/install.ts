// Installs, removes and lists the hooks of wa-sync in Gemini CLI, and keeps the copies of the launcher that the hooks run. Takes every
// folder as an argument; an uninstall must leave no trace.

import { join } from 'node:path';
import { WaError } from '../../../protocol/errors.ts';
import type { HookScope, HookStatus, InstallDirs } from '../driver.ts';
import {
  ensureFile,
  forget,
  type InstallRecord,
  readRecord,
  removeEmpty,
  removeFolders,
  removeRecord,
  textOf,
  writeRecord,
} from '../install/files.ts';
import { itemsOf, member } from '../install/json-text.ts';
import { type Found, launcherFiles, statusOf } from '../install/launcher.ts';
import { installInProject, projectFile, readSettings, uninstallFromProject } from '../install/project.ts';
import { ownCommands, withHooks } from '../install/settings.ts';
import { gemini } from './driver.ts';
import {
  extensionDir,
  extensionFiles,
  extensionHooks,
  refuseForeignExtension,
  sourcesDir,
  uninstallExtension,
} from './install-extension.ts';
import { hooksFolder, hookTable, ownNamePrefix, projectSettings } from './install-table.ts';

/** Installs or upgrades; a second run changes nothing. Errors: `settings_unreadable`, `outside_project`, `file_unusable`. */
export async function installHooks(dirs: InstallDirs, scope: HookScope): Promise<HookStatus> {
  const record = await readRecord(hooksDir(dirs));
  const inUse = await commandsInUse(dirs, record);
  try {
    const files = await launcherFiles(dirs, hooksDir(dirs), 'gemini');
    if (scope === 'user') {
      await refuseForeignExtension(dirs.home);
      files.push(...extensionFiles(dirs));
    }
    for (const file of files) await ensureFile(file, record.made);
    if (scope === 'user') await removeFolders(sourcesDir(dirs.dataDir), (version) => version === dirs.version);
    else await installInProject(dirs, record, projectSettings);
  } finally {
    // A running Gemini CLI still calls the launcher of its start; the next change removes that version.
    await settle(dirs, record, inUse);
  }
  return scope === 'user' ? extensionStatus(dirs) : projectStatus(dirs, dirs.projectDir);
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
  if (scope !== 'project') await attempt(extensionDir(dirs.home), () => uninstallExtension(dirs));
  const projects = scope === 'user' ? [] : scope === 'project' ? [dirs.projectDir] : knownProjects(dirs, record);
  for (const project of projects) {
    await attempt(projectFile(project, projectSettings), async () => {
      // Without a scope, unreadable settings of a folder where nothing was installed are not an error.
      if (scope === undefined && !record.projects[project] && (await lookAt(dirs, project)).problem !== undefined)
        return false;
      const found = await uninstallFromProject(project, record.projects[project], projectSettings);
      delete record.projects[project];
      await forgetTrust(dirs.home, project);
      return found;
    });
  }
  await settle(dirs, record, [], failures.length > 0);
  if (failures.length > 0) throw failures[0];
  return removed;
}

/** The extension, the current project, and every other project that has hooks of wa-sync, or may have them. */
export async function listHooks(dirs: InstallDirs): Promise<HookStatus[]> {
  const known = knownProjects(dirs, await readRecord(hooksDir(dirs)));
  const projects = await Promise.all(known.map((project) => projectStatus(dirs, project)));
  return [
    await extensionStatus(dirs),
    ...projects.filter(
      ({ installed, problem, place }) =>
        installed || problem !== undefined || place === projectFile(dirs.projectDir, projectSettings),
    ),
  ];
}

const hooksDir = ({ dataDir }: InstallDirs) => join(dataDir, hooksFolder);

/** Gemini CLI remembers the announced hooks of a project as "name:command". */
function forgetTrust(home: string, project: string): Promise<void> {
  return forget(join(home, '.gemini', 'trusted_hooks.json'), (root) => {
    const list = member(root, project);
    const names = itemsOf(list, 'array').map(({ value }) => value);
    const own = names.find(({ value }) => String(value).startsWith(ownNamePrefix));
    return own && names.length === 1 ? list : own;
  });
}

function knownProjects({ projectDir }: InstallDirs, record: InstallRecord): string[] {
  return [...new Set([projectDir, ...Object.keys(record.projects)])];
}

async function lookAt(dirs: InstallDirs, project: string): Promise<Found> {
  try {
    const { text = '' } = await readSettings(project, projectSettings);
    const commands = ownCommands(text, hookTable);
    return { commands, current: commands.length > 0 && withHooks(text, dirs, hookTable) === text };
  } catch (cause) {
    if (!(cause instanceof WaError)) throw cause;
    return { commands: [], current: false, problem: `${cause.message}. ${cause.hint ?? ''}` };
  }
}

/** The commands of all installed hooks. Undefined = not known, since the settings of a project cannot be read. */
async function commandsInUse(dirs: InstallDirs, record: InstallRecord): Promise<string[] | undefined> {
  const commands = ownCommands(await extensionHooks(dirs.home), hookTable);
  for (const project of knownProjects(dirs, record)) {
    const found = await lookAt(dirs, project);
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
  const isInstalled = Object.keys(record.projects).length > 0 || (await extensionHooks(dirs.home)) !== undefined;
  if (!isInstalled && !hasFailed) await removeRecord(hooksDir(dirs));
  await removeEmpty(record.made);
  if (isInstalled || hasFailed) await writeRecord(hooksDir(dirs), record);
}

async function extensionStatus(dirs: InstallDirs): Promise<HookStatus> {
  const texts = await Promise.all(extensionFiles(dirs).map(async ({ path, text }) => (await textOf(path)) === text));
  const commands = ownCommands(await extensionHooks(dirs.home), hookTable);
  return status(dirs, 'user', extensionDir(dirs.home), { commands, current: texts.every(Boolean) });
}

async function projectStatus(dirs: InstallDirs, project: string): Promise<HookStatus> {
  return status(dirs, 'project', projectFile(project, projectSettings), await lookAt(dirs, project));
}

function status(dirs: InstallDirs, scope: HookScope, place: string, found: Found): Promise<HookStatus> {
  return statusOf(dirs, { agent: gemini.name, scope, place }, found);
}
