// Installs, removes and lists the hooks of wa-sync in Codex. The command line of a hook stays the same over all versions, because Codex
// asks a person anew about every command that changes; whether a command is trusted, only a person decides.

import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { WaError } from '../../../protocol/errors.ts';
import { fileLimits } from '../../../protocol/limits.ts';
import type { HookScope, HookStatus, InstallDirs } from '../driver.ts';
import {
  digestOf,
  ensureFile,
  type InstallRecord,
  readRecord,
  removeEmpty,
  removeRecord,
  removeTree,
  textOf,
  writeRecord,
} from '../install/files.ts';
import { type Found, launcherFiles, statusOf } from '../install/launcher.ts';
import { installInProject, projectFile, readSettings, textWithout, uninstallFromProject } from '../install/project.ts';
import { ownCommands, settingsProblem, withHooks } from '../install/settings.ts';
import { codex } from './driver.ts';
import { withoutTrust } from './hook-trust.ts';
import { forAllVersions, hooksDir, hooksFile, hookTable, projectSettings } from './install-table.ts';

/** `CODEX_HOME`, else `~/.codex`. */
export function settingsFolder({ home, env }: Pick<InstallDirs, 'home' | 'env'>): string {
  return env?.CODEX_HOME || join(home, '.codex');
}

const userFile = (dirs: InstallDirs) => join(settingsFolder(dirs), hooksFile);

/** The record names a project by its folder, and a user's own file so. */
const userMark = 'user ';

/** Installs or upgrades; a second run changes nothing. Errors: `settings_unreadable`, `outside_project`, `file_unusable`. */
export async function installHooks(dirs: InstallDirs, scope: HookScope): Promise<HookStatus> {
  const record = await readRecord(hooksDir(dirs));
  try {
    for (const file of await launchersOf(dirs)) await ensureFile(file, record.made);
    if (scope === 'user') await installForUser(dirs, record);
    else await installInProject(dirs, record, projectSettings);
  } finally {
    await settle(dirs, record);
  }
  return scope === 'user' ? userStatus(dirs) : projectStatus(dirs, dirs.projectDir);
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
  const ofUser = Object.keys(record.projects).flatMap((key) =>
    key.startsWith(userMark) ? key.slice(userMark.length) : [],
  );
  for (const path of scope === 'project' ? [] : new Set([userFile(dirs), ...ofUser]))
    await attempt(path, () => uninstallForUser(path, record));
  const projects = scope === 'user' ? [] : scope === 'project' ? [dirs.projectDir] : knownProjects(dirs, record);
  for (const project of projects) {
    await attempt(projectFile(project, projectSettings), async () => {
      // Without a scope, an unreadable file of a folder where nothing was installed is not an error.
      if (scope === undefined && !record.projects[project] && (await lookAt(dirs, project)).problem !== undefined)
        return false;
      const found = await uninstallFromProject(project, record.projects[project], projectSettings);
      delete record.projects[project];
      return found;
    });
  }
  await settle(dirs, record, failures.length > 0);
  if (failures.length > 0) throw failures[0];
  return removed;
}

/** The user's own file, the current project, and every other project that has hooks of wa-sync, or may have them. */
export async function listHooks(dirs: InstallDirs): Promise<HookStatus[]> {
  const known = knownProjects(dirs, await readRecord(hooksDir(dirs)));
  const projects = await Promise.all(known.map((project) => projectStatus(dirs, project)));
  return [
    await userStatus(dirs),
    ...projects.filter(
      ({ installed, problem, place }) =>
        installed || problem !== undefined || place === projectFile(dirs.projectDir, projectSettings),
    ),
  ];
}

function knownProjects({ projectDir }: InstallDirs, record: InstallRecord): string[] {
  const known = Object.keys(record.projects).filter((key) => !key.startsWith(userMark));
  return [...new Set([projectDir, ...known])];
}

/** In the home folder the file may be a link of the user. */
async function readUserFile(path: string): Promise<string | undefined> {
  const text = await textOf(path);
  const problem = text === undefined ? await oversized(path) : settingsProblem(text, hookTable);
  if (problem === undefined) return text;
  throw new WaError('settings_unreadable', `${path} cannot be edited: ${problem}`, {
    hint: 'Repair it in an editor, or move it away, then run the command again.',
  });
}

async function oversized(path: string): Promise<string | undefined> {
  const size = (await stat(path).catch(() => undefined))?.size ?? 0;
  return size > fileLimits.fileBytes ? `it is larger than ${fileLimits.fileBytes} bytes` : undefined;
}

/** The record is written before the first change, so that an interrupted installation can be removed too. */
async function installForUser(dirs: InstallDirs, record: InstallRecord): Promise<void> {
  const path = userFile(dirs);
  const text = await readUserFile(path);
  const edited = withHooks(text, dirs, hookTable);
  const before = textWithout(text, record.projects[userMark + path], hookTable);
  record.projects[userMark + path] = { before, written: digestOf(edited) };
  await writeRecord(hooksDir(dirs), record);
  if (edited !== text) await ensureFile({ path, text: edited, mode: await modeOfFile(path) }, record.made);
}

async function uninstallForUser(path: string, record: InstallRecord): Promise<boolean> {
  const text = await readUserFile(path);
  const rest = textWithout(text, record.projects[userMark + path], hookTable);
  delete record.projects[userMark + path];
  if (text === undefined || rest === text) return false;
  if (rest === undefined) {
    await removeTree(path);
    await forgetTrust(path);
  } else await ensureFile({ path, text: rest, mode: await modeOfFile(path) }, record.made);
  return true;
}

async function modeOfFile(path: string): Promise<number> {
  return ((await stat(path).catch(() => undefined))?.mode ?? 0o600) & 0o777;
}

/** Codex remembers which hooks of a file a person trusts; without the file nobody needs that. Never rejects. */
async function forgetTrust(path: string): Promise<void> {
  const config = join(dirname(path), 'config.toml');
  try {
    const text = (await textOf(config)) ?? '';
    const rest = withoutTrust(text, path);
    if (rest !== text) await ensureFile({ path: config, text: rest, mode: await modeOfFile(config) }, new Set());
  } catch {
    // A file that cannot be written keeps some lines about hooks that are gone.
  }
}

async function lookAt(dirs: InstallDirs, project: string | undefined): Promise<Found> {
  try {
    const text =
      project === undefined ? await readUserFile(userFile(dirs)) : (await readSettings(project, projectSettings)).text;
    const commands = ownCommands(text, hookTable);
    const isWanted = commands.length > 0 && withHooks(text, dirs, hookTable) === text;
    return { commands, current: isWanted && (await areLaunchersCurrent(dirs)) };
  } catch (cause) {
    if (!(cause instanceof WaError)) throw cause;
    return { commands: [], current: false, problem: `${cause.message}. ${cause.hint ?? ''}` };
  }
}

const launchersOf = (dirs: InstallDirs) => launcherFiles(forAllVersions(dirs), hooksDir(dirs), 'codex');

/** A package that lacks a file cannot say. */
async function areLaunchersCurrent(dirs: InstallDirs): Promise<boolean> {
  const files = await launchersOf(dirs).catch(() => []);
  const same = files.map(async ({ path, text }) => path.endsWith('.json') || (await textOf(path)) === text);
  return (await Promise.all(same)).every(Boolean);
}

/** Removes the launchers that no hook runs and folders that are empty now, and writes the record while something is installed. */
async function settle(dirs: InstallDirs, record: InstallRecord, hasFailed = false): Promise<void> {
  const isInstalled = Object.keys(record.projects).length > 0;
  if (isInstalled || hasFailed) {
    await writeRecord(hooksDir(dirs), record);
    return;
  }
  await removeRecord(hooksDir(dirs));
  await removeTree(hooksDir(dirs));
  await removeEmpty(record.made);
}

async function userStatus(dirs: InstallDirs): Promise<HookStatus> {
  return status(dirs, 'user', userFile(dirs), await lookAt(dirs, undefined));
}

async function projectStatus(dirs: InstallDirs, project: string): Promise<HookStatus> {
  return status(dirs, 'project', projectFile(project, projectSettings), await lookAt(dirs, project));
}

async function status(dirs: InstallDirs, scope: HookScope, place: string, found: Found): Promise<HookStatus> {
  const known = await statusOf(dirs, { agent: codex.name, scope, place }, found);
  // The launcher has one place for all versions.
  return { ...known, version: found.current ? dirs.version : undefined };
}
