// Installs, removes and lists the hooks of wa-sync in Codex. The command line of a hook stays the same over all versions, because Codex
// asks a person anew about every command that changes; whether a command is trusted, only a person decides.

import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { WaError } from '../../../protocol/errors.ts';
import { fileLimits } from '../../../protocol/limits.ts';
import type { HookScope, HookStatus, InstallDirs } from '../driver.ts';
import { launcherFiles, parseCommand } from '../hook-files/command.ts';
import {
  digestOf,
  ensureFile,
  type InstallRecord,
  isEmptyObject,
  readRecord,
  removeEmpty,
  removeRecord,
  removeTree,
  textOf,
  writeRecord,
} from '../hook-files/files.ts';
import { installInProject, projectFile, readSettings, uninstallFromProject } from '../hook-files/project.ts';
import { ownCommands, settingsProblem, withHooks, withoutHooks } from '../hook-files/settings.ts';
import { codex } from './driver.ts';
import { withoutTrust } from './hook-trust.ts';
import { hookGroup, hooksFile, launchersName, settings } from './install-table.ts';

/** `CODEX_HOME`, else `~/.codex`. */
export function settingsFolder({ home, env }: Pick<InstallDirs, 'home' | 'env'>): string {
  return env?.CODEX_HOME || join(home, '.codex');
}

const userFile = (dirs: InstallDirs) => join(settingsFolder(dirs), hooksFile);

/** The record names a project by its folder, and a user's own file so. */
const userMark = 'user ';

const launchersDir = ({ dataDir }: InstallDirs) => join(dataDir, launchersName);

/** Installs or upgrades; a second run changes nothing. Errors: `settings_unreadable`, `outside_project`, `file_unusable`. */
export async function installHooks(dirs: InstallDirs, scope: HookScope): Promise<HookStatus> {
  const record = await readRecord(launchersDir(dirs));
  try {
    for (const file of await launcherFiles(dirs, launchersDir(dirs), ['CODEX_HOME'])) await ensureFile(file, record.made);
    const group = (event: string) => hookGroup(event, dirs);
    if (scope === 'user') await installForUser(dirs, record);
    else await installInProject(settings, { projectDir: dirs.projectDir, recordDir: launchersDir(dirs), group }, record);
  } finally {
    await settle(dirs, record);
  }
  return scope === 'user' ? userStatus(dirs) : projectStatus(dirs, dirs.projectDir);
}

/** Removes one scope, or without a scope every installation. Returns the places. Errors as `installHooks`, after the rest is done. */
export async function uninstallHooks(dirs: InstallDirs, scope: HookScope | undefined): Promise<string[]> {
  const record = await readRecord(launchersDir(dirs));
  const removed: string[] = [];
  const failures: unknown[] = [];
  const attempt = async (place: string, uninstall: () => Promise<boolean>) => {
    try {
      if (await uninstall()) removed.push(place);
    } catch (error) {
      failures.push(error);
    }
  };
  const ofUser = Object.keys(record.projects).flatMap((key) => (key.startsWith(userMark) ? key.slice(userMark.length) : []));
  for (const path of scope === 'project' ? [] : new Set([userFile(dirs), ...ofUser]))
    await attempt(path, () => uninstallForUser(path, record));
  const projects = scope === 'user' ? [] : scope === 'project' ? [dirs.projectDir] : knownProjects(dirs, record);
  for (const project of projects) {
    await attempt(projectFile(project, settings), async () => {
      // Without a scope, an unreadable file of a folder where nothing was installed is not an error.
      if (scope === undefined && !record.projects[project] && (await lookAt(dirs, project)).problem !== undefined)
        return false;
      const found = await uninstallFromProject(settings, project, record.projects[project]);
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
  const known = knownProjects(dirs, await readRecord(launchersDir(dirs)));
  const projects = await Promise.all(known.map((project) => projectStatus(dirs, project)));
  return [
    await userStatus(dirs),
    ...projects.filter(
      ({ installed, problem, place }) =>
        installed || problem !== undefined || place === projectFile(dirs.projectDir, settings),
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
  const problem = text === undefined ? await oversized(path) : settingsProblem(text, settings);
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
  const edited = withHooks(text, settings, (event) => hookGroup(event, dirs));
  const before = textWithout(text, record, path);
  record.projects[userMark + path] = { before, written: digestOf(edited) };
  await writeRecord(launchersDir(dirs), record);
  if (edited !== text) await ensureFile({ path, text: edited, mode: await modeOfFile(path) }, record.made);
}

async function uninstallForUser(path: string, record: InstallRecord): Promise<boolean> {
  const text = await readUserFile(path);
  const rest = textWithout(text, record, path);
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

/** The text without wa-sync: the text before the installation, unless the file has changed since. Undefined = no file. */
function textWithout(text: string | undefined, { projects }: InstallRecord, path: string): string | undefined {
  const record = projects[userMark + path];
  if (text === undefined) return undefined;
  if (record?.written === digestOf(text)) return record.before;
  const rest = withoutHooks(text, settings, record?.before);
  return record && record.before === undefined && isEmptyObject(rest) ? undefined : rest;
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

/** What is found at a place. */
interface Found {
  /** Of the hooks of wa-sync. */
  commands: string[];
  current: boolean;
  problem?: string;
}

async function lookAt(dirs: InstallDirs, project: string | undefined): Promise<Found> {
  try {
    const text = project === undefined ? await readUserFile(userFile(dirs)) : (await readSettings(project, settings)).text;
    const commands = ownCommands(text, settings);
    const isWanted = () => withHooks(text, settings, (event) => hookGroup(event, dirs)) === text;
    return { commands, current: commands.length > 0 && isWanted() && (await areLaunchersCurrent(dirs)) };
  } catch (cause) {
    if (!(cause instanceof WaError)) throw cause;
    return { commands: [], current: false, problem: `${cause.message}. ${cause.hint ?? ''}` };
  }
}

/** A package that lacks a file cannot say. */
async function areLaunchersCurrent(dirs: InstallDirs): Promise<boolean> {
  const files = await launcherFiles(dirs, launchersDir(dirs), ['CODEX_HOME']).catch(() => []);
  const same = files.map(async ({ path, text }) => path.endsWith('.json') || (await textOf(path)) === text);
  return (await Promise.all(same)).every(Boolean);
}

/** Removes the launchers that no hook runs and folders that are empty now, and writes the record while something is installed. */
async function settle(dirs: InstallDirs, record: InstallRecord, hasFailed = false): Promise<void> {
  const isInstalled = Object.keys(record.projects).length > 0;
  if (isInstalled || hasFailed) {
    await writeRecord(launchersDir(dirs), record);
    return;
  }
  await removeRecord(launchersDir(dirs));
  await removeTree(launchersDir(dirs));
  await removeEmpty(record.made);
}

async function userStatus(dirs: InstallDirs): Promise<HookStatus> {
  return status(dirs, 'user', userFile(dirs), await lookAt(dirs, undefined));
}

async function projectStatus(dirs: InstallDirs, project: string): Promise<HookStatus> {
  return status(dirs, 'project', projectFile(project, settings), await lookAt(dirs, project));
}

async function status(dirs: InstallDirs, scope: HookScope, place: string, found: Found): Promise<HookStatus> {
  const commands = found.commands.flatMap((command) => parseCommand(command) ?? []);
  const launcher = commands[0]?.target;
  const served = commands.map(({ directories }) => directories);
  const others = served.find((each) => !isDeepStrictEqual(each, dirs.directories));
  return {
    agent: codex.name,
    scope,
    place,
    installed: found.commands.length > 0,
    // The launcher has one place for all versions.
    version: found.current && launcher !== undefined && dirname(launcher) === launchersDir(dirs) ? dirs.version : undefined,
    launcher,
    launcherExists: launcher !== undefined && (await stat(launcher).catch(() => undefined)) !== undefined,
    directories: others ?? served[0] ?? [],
    servesThese: served.length > 0 && others === undefined,
    current: found.current,
    problem: found.problem,
  };
}
