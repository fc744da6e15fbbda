// Installs, removes and lists our hooks in Gemini CLI, and keeps the launcher copies that they need. Takes every folder as an
// argument; must leave no trace behind after an uninstall.

import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { WaError } from '../../../protocol/errors.ts';
import { startRecordName } from '../../../protocol/hook.ts';
import type { HookScope, HookStatus, InstallDirs } from '../driver.ts';
import { gemini } from './driver.ts';
import {
  extensionDir,
  installExtension,
  installedExtension,
  isCurrentExtension,
  uninstallExtension,
  versionsIn,
} from './install-extension.ts';
import { ensureFile, makeFolder, removeEmpty, removeTree } from './install-files.ts';
import { forgetTrust } from './install-memory.ts';
import { entriesInProject, installInProject, projectFile, uninstallFromProject } from './install-project.ts';
import { type InstallRecord, readRecord, removeRecord, writeRecord } from './install-record.ts';
import type { OwnEntry } from './install-settings.ts';
import {
  clientName,
  fallbackName,
  hookEntry,
  hookTable,
  type LauncherPlace,
  launcherName,
  type ParsedCommand,
  parseCommand,
  programName,
} from './install-table.ts';

/** Of the installer's environment, for a daemon that a hook starts: no secret, and nothing that makes Node load something. */
const daemonVariables = [
  'HOME',
  'PATH',
  'XDG_DATA_HOME',
  'XDG_CACHE_HOME',
  'GEMINI_CLI_HOME',
  'WA_MAILBOX_DIR',
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'NO_PROXY',
  'https_proxy',
  'http_proxy',
  'no_proxy',
  'NODE_EXTRA_CA_CERTS',
  'SystemRoot',
  'USERPROFILE',
  'APPDATA',
  'LOCALAPPDATA',
  'TEMP',
];

/** Installs or upgrades; a second run changes nothing. Errors: `settings_unreadable`, `outside_project`, `file_unusable`. */
export async function installHooks(dirs: InstallDirs, scope: HookScope): Promise<HookStatus> {
  const record = readRecord(dirs.dataDir);
  const before = await versionsInUse(dirs, record);
  record.madeData = makeFolder(hooksDir(dirs)) ?? record.madeData;
  try {
    const place = copyLauncher(dirs);
    if (scope === 'extension') {
      record.madeExtension = installExtension(dirs, dirs.version, place, programOf(dirs)) ?? record.madeExtension;
    } else {
      await installInProject(dirs.projectDir, place, record.projects[dirs.projectDir], (project) => {
        record.projects[dirs.projectDir] = project;
        writeRecord(dirs.dataDir, record);
      });
    }
    writeRecord(dirs.dataDir, record);
  } finally {
    // A Gemini CLI that runs now still calls the launcher it was started with; that version goes with the next change.
    await tidy(dirs, record, before);
  }
  return scope === 'extension' ? extensionStatus(dirs) : await projectStatus(dirs, dirs.projectDir);
}

/** Removes one scope, or without one every place where we installed. Returns the places. Errors as `installHooks`, after the rest is done. */
export async function uninstallHooks(dirs: InstallDirs, scope: HookScope | undefined): Promise<string[]> {
  const record = readRecord(dirs.dataDir);
  const removed: string[] = [];
  const failures: unknown[] = [];
  const attempt = async (place: string, uninstall: () => boolean | Promise<boolean>) => {
    try {
      if (await uninstall()) removed.push(place);
    } catch (error) {
      failures.push(error);
    }
  };
  if (scope !== 'project') {
    await attempt(extensionDir(dirs.home), () => uninstallExtension(dirs, record.madeExtension));
    if (failures.length === 0) record.madeExtension = undefined;
  }
  const projects = scope === 'extension' ? [] : scope === 'project' ? [dirs.projectDir] : knownProjects(dirs, record);
  for (const project of projects) {
    await attempt(projectFile(project), async () => {
      // What somebody else put into a folder where we never installed is no matter of ours, unless it was asked for.
      if (scope === undefined && !record.projects[project] && (await isClosed(project))) return false;
      const found = await uninstallFromProject(project, record.projects[project]);
      delete record.projects[project];
      forgetTrust(dirs.home, project);
      return found;
    });
  }
  if (failures.length > 0 || Object.keys(record.projects).length > 0 || installedExtension(dirs) !== undefined) {
    writeRecord(dirs.dataDir, record);
  } else {
    removeRecord(dirs.dataDir);
  }
  await tidy(dirs, record, new Set());
  if (failures.length > 0) throw failures[0];
  return removed;
}

/** The extension, the current project, and every other project that has entries of ours, or may have them. */
export async function listHooks(dirs: InstallDirs): Promise<HookStatus[]> {
  const known = knownProjects(dirs, readRecord(dirs.dataDir));
  const projects = await Promise.all(known.map((project) => projectStatus(dirs, project)));
  return [
    extensionStatus(dirs),
    ...projects.filter(
      ({ installed, problem, place }) => installed || problem !== undefined || place === projectFile(dirs.projectDir),
    ),
  ];
}

const programOf = ({ packageDir }: InstallDirs) => join(packageDir, programName);

const placeOf = (dirs: InstallDirs): LauncherPlace => ({
  dir: join(hooksDir(dirs), dirs.version),
  platform: dirs.platform,
  directories: dirs.directories,
});

const hooksDir = ({ dataDir }: InstallDirs) => join(dataDir, 'hooks');

function copyLauncher(dirs: InstallDirs): LauncherPlace {
  const dir = join(hooksDir(dirs), dirs.version);
  const files = [
    { name: launcherName, mode: 0o755 },
    { name: clientName, mode: 0o644 },
    { name: fallbackName, mode: 0o644 },
  ].map((file) => ({ ...file, bytes: packaged(dirs, file.name) }));
  if (dirs.env) files.push({ name: startRecordName, mode: 0o600, bytes: startRecord(dirs, dirs.env) });
  makeFolder(dir);
  for (const { name, mode, bytes } of files) ensureFile(join(dir, name), bytes, mode);
  return placeOf(dirs);
}

function startRecord(dirs: InstallDirs, given: NonNullable<InstallDirs['env']>): Buffer {
  const env = Object.fromEntries(daemonVariables.flatMap((name) => (given[name] ? [[name, given[name]]] : [])));
  return Buffer.from(`${JSON.stringify({ node: process.execPath, program: programOf(dirs), env }, null, 2)}\n`);
}

function packaged({ packageDir }: InstallDirs, name: string): Buffer {
  try {
    return readFileSync(join(packageDir, name));
  } catch (cause) {
    throw new WaError('file_unusable', `The package lacks ${join(packageDir, name)}`, {
      hint: 'Run `npm ci` in the clone of wa-sync, then this command again.',
      cause,
    });
  }
}

function knownProjects({ projectDir }: InstallDirs, record: InstallRecord): string[] {
  return [...new Set([projectDir, ...Object.keys(record.projects)])];
}

/** Whether the settings of a project are something that is not opened. */
async function isClosed(project: string): Promise<boolean> {
  return (await entriesOrProblem(project)).problem !== undefined;
}

async function entriesOrProblem(project: string): Promise<{ entries: OwnEntry[]; problem: string | undefined }> {
  try {
    return { entries: await entriesInProject(project), problem: undefined };
  } catch (cause) {
    if (!(cause instanceof WaError)) throw cause;
    return { entries: [], problem: `${cause.message}. ${cause.hint ?? ''}` };
  }
}

/** Undefined = all may be, since the settings of a project where we installed cannot be looked at. */
async function versionsInUse(dirs: InstallDirs, record: InstallRecord): Promise<Set<string> | undefined> {
  const entries: OwnEntry[] = [];
  for (const project of knownProjects(dirs, record)) {
    const found = await entriesOrProblem(project);
    if (found.problem !== undefined && record.projects[project]) return undefined;
    entries.push(...found.entries);
  }
  entries.push(...(installedExtension(dirs)?.entries ?? []));
  const targets = entries.flatMap(({ entry }) => parseCommand(entry.command ?? '')?.target ?? []);
  return new Set(
    targets.filter((file) => dirname(dirname(file)) === hooksDir(dirs)).map((file) => basename(dirname(file))),
  );
}

// Launchers that nobody runs, and the folders that then hold nothing.
async function tidy(
  dirs: InstallDirs,
  record: InstallRecord,
  alsoInUse: ReadonlySet<string> | undefined,
): Promise<void> {
  const inUse = await versionsInUse(dirs, record);
  if (!inUse || !alsoInUse) return;
  for (const version of versionsIn(hooksDir(dirs))) {
    if (!inUse.has(version) && !alsoInUse.has(version)) removeTree(join(hooksDir(dirs), version));
  }
  removeEmpty(hooksDir(dirs), record.madeData ?? dirs.dataDir);
}

function extensionStatus(dirs: InstallDirs): HookStatus {
  const found = status(dirs, 'extension', extensionDir(dirs.home), installedExtension(dirs)?.entries ?? []);
  return { ...found, current: isCurrentExtension(dirs.home, dirs.version, placeOf(dirs), programOf(dirs)) };
}

async function projectStatus(dirs: InstallDirs, project: string): Promise<HookStatus> {
  const { entries, problem } = await entriesOrProblem(project);
  return { ...status(dirs, 'project', projectFile(project), entries), problem };
}

function status(dirs: InstallDirs, scope: HookScope, place: string, own: OwnEntry[]): HookStatus {
  const commands = own.flatMap(({ entry }) => parseCommand(entry.command ?? '') ?? []);
  const launcher = commands[0]?.target;
  const here = placeOf(dirs);
  const isOther = ({ directories }: ParsedCommand) => !isDeepStrictEqual(directories, dirs.directories);
  const served = (commands.find(isOther) ?? commands[0])?.directories ?? [];
  const wanted = hookTable.map((row) => {
    const entry = hookEntry(row, here);
    const event: string = row.event;
    return row.matcher === undefined ? { event, entry } : { event, entry, matcher: row.matcher };
  });
  const byEvent = (a: OwnEntry, b: OwnEntry) => (a.event < b.event ? -1 : 1);
  return {
    agent: gemini.name,
    scope,
    place,
    installed: own.length > 0,
    version: launcher && basename(dirname(launcher)),
    launcher,
    launcherExists: launcher !== undefined && existsSync(launcher),
    directories: [...served],
    served: isDeepStrictEqual(served, dirs.directories) ? 'these' : served.length === 0 ? 'older' : 'other',
    current: isDeepStrictEqual([...own].sort(byEvent), [...wanted].sort(byEvent)),
    problem: undefined,
  };
}
