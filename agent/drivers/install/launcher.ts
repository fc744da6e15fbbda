// The copies of the launcher that the hooks of a coding agent run, in a folder for each version, and what an installation looks like to a
// person. Takes every folder as an argument.

import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { WaError } from '../../../protocol/errors.ts';
import { startRecordName } from '../../../protocol/hook.ts';
import { ofFootprints } from '../footprints.ts';
import type { HookStatus, InstallDirs } from '../workstation.ts';
import { bundleName, clientName, fallbackName, launcherName, parseCommand, programOf } from './command.ts';
import { textOf, type WantedFile } from './files.ts';

/** The variables that a daemon gets from a hook that starts the daemon: no secret, and no variable that makes Node load code. */
const daemonVariables = ofFootprints((all) => [
  ...all.flatMap(({ variables }) => variables),
  ...['HOME', 'PATH', 'XDG_DATA_HOME', 'XDG_CACHE_HOME'],
  ...['WA_MAILBOX_DIR'],
  ...['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY', 'https_proxy', 'http_proxy', 'no_proxy', 'NODE_EXTRA_CA_CERTS'],
  ...['SystemRoot', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA', 'TEMP'],
]);

/** Below `hooksDir`, for the hooks of one coding agent. Errors: `file_unusable` for an incomplete package. */
export async function launcherFiles(dirs: InstallDirs, hooksDir: string, agent: string): Promise<WantedFile[]> {
  const dir = join(hooksDir, dirs.version);
  const copies = [launcherName, clientName, fallbackName, bundleName(agent)].map(async (name) => {
    const text = await textOf(join(dirs.packageDir, name));
    if (text !== undefined) return { path: join(dir, name), text, mode: name === launcherName ? 0o755 : 0o644 };
    throw new WaError('file_unusable', `The package lacks ${join(dirs.packageDir, name)}`, {
      hint: 'Run `npm ci` in the clone of wa-sync, then this command again.',
    });
  });
  const files = await Promise.all(copies);
  if (!dirs.env) return files;
  const given = dirs.env;
  const env = Object.fromEntries(daemonVariables().flatMap((name) => (given[name] ? [[name, given[name]]] : [])));
  const text = `${JSON.stringify({ node: process.execPath, program: programOf(dirs), env }, null, 2)}\n`;
  return [...files, { path: join(dir, startRecordName), text, mode: 0o600 }];
}

/** What is found at a place. */
export interface Found {
  /** Of the hooks of wa-sync. */
  commands: string[];
  current: boolean;
  problem?: string;
}

export async function statusOf(
  dirs: InstallDirs,
  place: Pick<HookStatus, 'agent' | 'scope' | 'place'>,
  found: Found,
): Promise<HookStatus> {
  const commands = found.commands.flatMap((command) => parseCommand(command) ?? []);
  const launcher = commands[0]?.target;
  const served = commands.map(({ directories }) => directories);
  const others = served.find((each) => !isDeepStrictEqual(each, dirs.directories));
  return {
    ...place,
    installed: found.commands.length > 0,
    version: launcher && basename(dirname(launcher)),
    launcher,
    launcherExists: launcher !== undefined && (await stat(launcher).catch(() => undefined)) !== undefined,
    directories: others ?? served[0] ?? [],
    servesThese: served.length > 0 && others === undefined,
    current: found.current,
    problem: found.problem,
  };
}
