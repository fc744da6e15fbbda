// Installs, removes and lists our hooks in Gemini CLI, and keeps the launcher copies that they need. Takes every folder as an
// argument; must leave no trace behind after an uninstall.

import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { WaError } from '../../../protocol/errors.ts';
import { startRecordName } from '../../../protocol/hook.ts';
import type { HookScope, HookStatus, InstallDirs } from '../driver.ts';
import { gemini } from './driver.ts';
import {
  extensionDir,
  extensionEntries,
  extensionFiles,
  refuseForeignExtension,
  sourcesDir,
  uninstallExtension,
} from './install-extension.ts';
import {
  ensureFile,
  forget,
  type InstallRecord,
  readRecord,
  removeEmpty,
  removeFolders,
  removeRecord,
  textOf,
  type WantedFile,
  writeRecord,
} from './install-files.ts';
import { itemsOf, member } from './install-json-text.ts';
import { entriesInProject, installInProject, projectFile, uninstallFromProject } from './install-project.ts';
import type { OwnEntry } from './install-settings.ts';
import {
  clientName,
  fallbackName,
  hookEntry,
  hookTable,
  type LauncherPlace,
  launcherName,
  ownNamePrefix,
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
  const record = await readRecord(dirs.dataDir);
  const inUse = await versionsInUse(dirs, record);
  try {
    const files = await launcherFiles(dirs);
    if (scope === 'extension') {
      await refuseForeignExtension(dirs.home);
      files.push(...filesOfExtension(dirs));
    }
    for (const file of files) await ensureFile(file, record.made);
    if (scope === 'extension') await removeFolders(sourcesDir(dirs.dataDir), (version) => version === dirs.version);
    else await installInProject(dirs, placeOf(dirs), record);
  } finally {
    // A Gemini CLI that runs now still calls the launcher it was started with; that version goes with the next change.
    await settle(dirs, record, inUse);
  }
  return scope === 'extension' ? extensionStatus(dirs) : projectStatus(dirs, dirs.projectDir);
}

/** Removes one scope, or without a scope every installation. Returns the places. Errors as `installHooks`, after the rest is done. */
export async function uninstallHooks(dirs: InstallDirs, scope: HookScope | undefined): Promise<string[]> {
  const record = await readRecord(dirs.dataDir);
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
  const projects = scope === 'extension' ? [] : scope === 'project' ? [dirs.projectDir] : knownProjects(dirs, record);
  for (const project of projects) {
    await attempt(projectFile(project), async () => {
      // Without a scope, unreadable settings of a folder where nothing was installed are not an error.
      if (scope === undefined && !record.projects[project] && (await lookAt(project)).problem !== undefined)
        return false;
      const found = await uninstallFromProject(project, record.projects[project]);
      delete record.projects[project];
      await forgetTrust(dirs.home, project);
      return found;
    });
  }
  await settle(dirs, record, new Set(), failures.length > 0);
  if (failures.length > 0) throw failures[0];
  return removed;
}

/** The extension, the current project, and every other project that has hooks of wa-sync, or may have them. */
export async function listHooks(dirs: InstallDirs): Promise<HookStatus[]> {
  const known = knownProjects(dirs, await readRecord(dirs.dataDir));
  const projects = await Promise.all(known.map((project) => projectStatus(dirs, project)));
  return [
    await extensionStatus(dirs),
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

const filesOfExtension = (dirs: InstallDirs) => extensionFiles(dirs, placeOf(dirs), programOf(dirs));

async function launcherFiles(dirs: InstallDirs): Promise<WantedFile[]> {
  const { dir } = placeOf(dirs);
  const copies = [launcherName, clientName, fallbackName].map(async (name) => {
    const text = await textOf(join(dirs.packageDir, name));
    if (text !== undefined) return { path: join(dir, name), text, mode: name === launcherName ? 0o755 : 0o644 };
    throw new WaError('file_unusable', `The package lacks ${join(dirs.packageDir, name)}`, {
      hint: 'Run `npm ci` in the clone of wa-sync, then this command again.',
    });
  });
  const files = await Promise.all(copies);
  if (!dirs.env) return files;
  const given = dirs.env;
  const env = Object.fromEntries(daemonVariables.flatMap((name) => (given[name] ? [[name, given[name]]] : [])));
  const text = `${JSON.stringify({ node: process.execPath, program: programOf(dirs), env }, null, 2)}\n`;
  return [...files, { path: join(dir, startRecordName), text, mode: 0o600 }];
}

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

async function lookAt(project: string): Promise<{ entries: OwnEntry[]; problem: string | undefined }> {
  try {
    return { entries: await entriesInProject(project), problem: undefined };
  } catch (cause) {
    if (!(cause instanceof WaError)) throw cause;
    return { entries: [], problem: `${cause.message}. ${cause.hint ?? ''}` };
  }
}

/** Undefined = all may be, since installed hooks cannot be looked at. */
async function versionsInUse(dirs: InstallDirs, record: InstallRecord): Promise<Set<string> | undefined> {
  const entries = (await extensionEntries(dirs)) ?? [];
  for (const project of knownProjects(dirs, record)) {
    const found = await lookAt(project);
    if (found.problem !== undefined && record.projects[project]) return undefined;
    entries.push(...found.entries);
  }
  const targets = entries.map(({ entry }) => parseCommand(String(entry.command))?.target);
  if (targets.includes(undefined)) return undefined;
  return new Set(
    targets.flatMap((file = '') => (dirname(dirname(file)) === hooksDir(dirs) ? [basename(dirname(file))] : [])),
  );
}

/** Removes launchers that no hook runs and folders that are empty now, and writes the record while something is installed. */
async function settle(
  dirs: InstallDirs,
  record: InstallRecord,
  alsoInUse: ReadonlySet<string> | undefined,
  hasFailed = false,
): Promise<void> {
  const inUse = await versionsInUse(dirs, record);
  if (inUse && alsoInUse) {
    await removeFolders(hooksDir(dirs), (version) => inUse.has(version) || alsoInUse.has(version));
  }
  const isInstalled = Object.keys(record.projects).length > 0 || (await extensionEntries(dirs)) !== undefined;
  if (!isInstalled && !hasFailed) await removeRecord(dirs.dataDir);
  await removeEmpty(record.made);
  if (isInstalled || hasFailed) await writeRecord(dirs.dataDir, record);
}

async function extensionStatus(dirs: InstallDirs): Promise<HookStatus> {
  const entries = await extensionEntries(dirs);
  const found = await status(dirs, 'extension', extensionDir(dirs.home), entries ?? []);
  const texts = await Promise.all(filesOfExtension(dirs).map(async ({ path, text }) => (await textOf(path)) === text));
  return { ...found, current: texts.every(Boolean) };
}

async function projectStatus(dirs: InstallDirs, project: string): Promise<HookStatus> {
  const { entries, problem } = await lookAt(project);
  return { ...(await status(dirs, 'project', projectFile(project), entries)), problem };
}

async function status(dirs: InstallDirs, scope: HookScope, place: string, own: OwnEntry[]): Promise<HookStatus> {
  const commands = own.flatMap(({ entry }) => parseCommand(String(entry.command)) ?? []);
  const launcher = commands[0]?.target;
  const isOther = ({ directories }: { directories: string[] }) => !isDeepStrictEqual(directories, dirs.directories);
  const served = (commands.find(isOther) ?? commands[0])?.directories ?? [];
  const wanted = hookTable.map((row): OwnEntry => {
    const entry = hookEntry(row, placeOf(dirs));
    return row.matcher === undefined ? { event: row.event, entry } : { event: row.event, entry, matcher: row.matcher };
  });
  const byEvent = (a: OwnEntry, b: OwnEntry) => (a.event < b.event ? -1 : 1);
  return {
    agent: gemini.name,
    scope,
    place,
    installed: own.length > 0,
    version: launcher && basename(dirname(launcher)),
    launcher,
    launcherExists: launcher !== undefined && (await stat(launcher).catch(() => undefined)) !== undefined,
    directories: served,
    servesThese: isDeepStrictEqual(served, dirs.directories),
    current: isDeepStrictEqual([...own].sort(byEvent), wanted.sort(byEvent)),
    problem: undefined,
  };
}
