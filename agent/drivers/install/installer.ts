// Installs, removes and lists the hooks of wa-sync in one coding agent, and keeps the copies of the launcher that the hooks run: the same
// steps for each agent. Takes every folder as an argument; an uninstall must leave no trace.

import { join } from 'node:path';
import { WaError } from '../../../protocol/errors.ts';
import type { HookScope, HookStatus, InstallDirs, Installer } from '../workstation.ts';
import {
  ensureFile,
  type InstallRecord,
  readRecord,
  removeEmpty,
  removeFolders,
  removeRecord,
  writeRecord,
} from './files.ts';
import { type Found, launcherFiles, statusOf } from './launcher.ts';
import { installInProject, type ProjectSettings, projectFile, readSettings, uninstallFromProject } from './project.ts';
import { ownCommands, withHooks } from './settings.ts';

/** In what an agent's installation differs from the others. */
export interface InstallerParts {
  settings: ProjectSettings;
  user: UserPlaces;
  /** With the version that names the folder of the launcher; absent = the version of the package. */
  launcherDirs?(dirs: InstallDirs): InstallDirs;
  /** Whether the launcher is as the package has it; absent = the command line names the version, which says it. */
  isLauncherCurrent?(dirs: InstallDirs): Promise<boolean>;
  /** After the hooks of a project are gone. Errors as `uninstall`. */
  forgetProject?(dirs: InstallDirs, project: string): Promise<void>;
  afterInstall: readonly string[];
}

/** Where the hooks for all projects of a person are. */
export interface UserPlaces {
  place(dirs: InstallDirs): string;
  /** The places of earlier installations, too. */
  known(dirs: InstallDirs, record: InstallRecord): string[];
  /** The record says that hooks are at this place. */
  isRecorded(place: string, record: InstallRecord): boolean;
  /** Writes the record before the first change. Errors as `Installer.install`. */
  install(dirs: InstallDirs, record: InstallRecord): Promise<void>;
  /** Returns whether hooks were there. Errors as `Installer.uninstall`. */
  uninstall(dirs: InstallDirs, record: InstallRecord, place: string): Promise<boolean>;
  /** Raises a WaError for a place that cannot be read. */
  find(dirs: InstallDirs, place: string): Promise<Found>;
  /** Something is installed that no record names. */
  isThere?(dirs: InstallDirs): Promise<boolean>;
}

/** Keys of a record's `projects` that are no folder of a project begin so. */
export const userMark = 'user:';

export function createInstaller(parts: InstallerParts): Installer {
  const { settings, user } = parts;
  const hooksDir = ({ dataDir }: InstallDirs) => join(dataDir, settings.hooksFolder);

  async function install(dirs: InstallDirs, scope: HookScope): Promise<HookStatus> {
    const record = await readRecord(hooksDir(dirs));
    const inUse = await commandsInUse(dirs, record);
    try {
      const files = await launcherFiles(parts.launcherDirs?.(dirs) ?? dirs, hooksDir(dirs), settings.agent);
      for (const file of files) await ensureFile(file, record.made);
      if (scope === 'project') await installInProject(dirs, record, settings);
      else await user.install(dirs, record);
    } finally {
      // A running session still calls the launcher of its start; the next change removes that version.
      await settle(dirs, record, inUse);
    }
    return scope === 'user' ? userStatus(dirs) : projectStatus(dirs, dirs.projectDir);
  }

  async function uninstall(dirs: InstallDirs, scope: HookScope | undefined): Promise<string[]> {
    const record = await readRecord(hooksDir(dirs));
    const removed: string[] = [];
    const failures: unknown[] = [];
    const attempt = async (place: string, remove: () => Promise<boolean>) => {
      try {
        if (await remove()) removed.push(place);
      } catch (error) {
        failures.push(error);
      }
    };
    for (const place of scope === 'project' ? [] : user.known(dirs, record))
      await attempt(place, () => user.uninstall(dirs, record, place));
    const projects = scope === 'user' ? [] : scope === 'project' ? [dirs.projectDir] : knownProjects(dirs, record);
    for (const project of projects) {
      await attempt(projectFile(project, settings), async () => {
        // Without a scope, unreadable settings of a folder where nothing was installed are not an error.
        if (scope === undefined && !record.projects[project] && (await inProject(dirs, project)).problem !== undefined)
          return false;
        const found = await uninstallFromProject(project, record.projects[project], settings);
        delete record.projects[project];
        await parts.forgetProject?.(dirs, project);
        return found;
      });
    }
    await settle(dirs, record, [], failures.length > 0);
    if (failures.length > 0) throw failures[0];
    return removed;
  }

  async function list(dirs: InstallDirs): Promise<HookStatus[]> {
    const known = knownProjects(dirs, await readRecord(hooksDir(dirs)));
    const projects = await Promise.all(known.map((project) => projectStatus(dirs, project)));
    const here = projectFile(dirs.projectDir, settings);
    return [
      await userStatus(dirs),
      ...projects.filter(({ installed, problem, place }) => installed || problem !== undefined || place === here),
    ];
  }

  /** The commands of all installed hooks. Undefined = not known, since settings with hooks cannot be read. */
  async function commandsInUse(dirs: InstallDirs, record: InstallRecord): Promise<string[] | undefined> {
    const found: (Found & { isRecorded: boolean })[] = [];
    for (const place of user.known(dirs, record))
      found.push({ ...(await forUser(dirs, place)), isRecorded: user.isRecorded(place, record) });
    for (const project of knownProjects(dirs, record))
      found.push({ ...(await inProject(dirs, project)), isRecorded: record.projects[project] !== undefined });
    if (found.some(({ problem, isRecorded }) => problem !== undefined && isRecorded)) return undefined;
    return found.flatMap(({ commands }) => commands);
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
    const isInstalled = Object.keys(record.projects).length > 0 || (await user.isThere?.(dirs)) === true;
    if (!isInstalled && !hasFailed) await removeRecord(hooksDir(dirs));
    await removeEmpty(record.made);
    if (isInstalled || hasFailed) await writeRecord(hooksDir(dirs), record);
  }

  async function inProject(dirs: InstallDirs, project: string): Promise<Found> {
    return withProblem(async () => {
      const { text = '' } = await readSettings(project, settings);
      const commands = ownCommands(text, settings.table);
      return { commands, current: commands.length > 0 && withHooks(text, dirs, settings.table) === text };
    });
  }

  const forUser = (dirs: InstallDirs, place: string) => withProblem(() => user.find(dirs, place));

  async function userStatus(dirs: InstallDirs): Promise<HookStatus> {
    const place = user.place(dirs);
    return status(dirs, 'user', place, await forUser(dirs, place));
  }

  async function projectStatus(dirs: InstallDirs, project: string): Promise<HookStatus> {
    return status(dirs, 'project', projectFile(project, settings), await inProject(dirs, project));
  }

  async function status(dirs: InstallDirs, scope: HookScope, place: string, found: Found): Promise<HookStatus> {
    const at = { agent: settings.agent, scope, place };
    if (!parts.isLauncherCurrent) return statusOf(dirs, at, found);
    const current = found.current && (await parts.isLauncherCurrent(dirs));
    // The launcher has one place for all versions.
    return { ...(await statusOf(dirs, at, { ...found, current })), version: current ? dirs.version : undefined };
  }

  return { install, uninstall, list, afterInstall: parts.afterInstall };
}

function knownProjects({ projectDir }: InstallDirs, { projects }: InstallRecord): string[] {
  return [...new Set([projectDir, ...Object.keys(projects).filter((key) => !key.startsWith(userMark))])];
}

async function withProblem(find: () => Promise<Found>): Promise<Found> {
  try {
    return await find();
  } catch (cause) {
    if (!(cause instanceof WaError)) throw cause;
    return { commands: [], current: false, problem: `${cause.message}. ${cause.hint ?? ''}` };
  }
}
