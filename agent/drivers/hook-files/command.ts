// The command line of an installed hook, and the files that it runs: the launcher, its client and its fallback. Pure but for the reading of
// the package.

import { join, posix, win32 } from 'node:path';
import { WaError } from '../../../protocol/errors.ts';
import { startRecordName } from '../../../protocol/hook.ts';
import type { InstallDirs } from '../driver.ts';
import { textOf, type WantedFile } from './files.ts';

export const launcherName = 'wa-hook';
const clientName = 'client.pl';
export const fallbackName = 'wa-hook-fallback.cjs';

export const programOf = ({ packageDir }: InstallDirs) => join(packageDir, 'wa-sync.js');

/** The variables that a daemon gets from a hook that starts the daemon: no secret, and no variable that makes Node load code. */
const daemonVariables = [
  ...['HOME', 'PATH', 'XDG_DATA_HOME', 'XDG_CACHE_HOME', 'WA_MAILBOX_DIR'],
  ...['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY', 'https_proxy', 'http_proxy', 'no_proxy', 'NODE_EXTRA_CA_CERTS'],
  ...['SystemRoot', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA', 'TEMP'],
];

/** The launcher's files for the folder `dir`; `variables` = of the host, for the daemon that a hook starts. Errors: `file_unusable`. */
export async function launcherFiles(
  dirs: InstallDirs,
  dir: string,
  variables: readonly string[],
): Promise<WantedFile[]> {
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
  const names = [...daemonVariables, ...variables];
  const env = Object.fromEntries(names.flatMap((name) => (given[name] ? [[name, given[name]]] : [])));
  const text = `${JSON.stringify({ node: process.execPath, program: programOf(dirs), env }, null, 2)}\n`;
  return [...files, { path: join(dir, startRecordName), text, mode: 0o600 }];
}

/** A folder for launchers below the data directory, as the commands spell it. */
export function launcherFolder({ dataDir, platform }: InstallDirs, ...names: string[]): string {
  return (platform === 'win32' ? win32 : posix).join(dataDir, ...names);
}

// A missing program exits 127, which the hosts take as a refusal: hence the guard. `exec`, so that a signal reaches the launcher.
export function hookCommand(words: string, mode: string, dirs: InstallDirs, folder: string): string {
  if (dirs.platform === 'win32') {
    const file = quoteWindows(`${folder}\\${fallbackName}`);
    const served = dirs.directories.map(quoteWindows).join(' ');
    return `if (Test-Path -LiteralPath ${file}) { Remove-Item Env:NODE_OPTIONS, Env:NODE_PATH -ErrorAction Ignore; node ${file} ${words} 0 0 ${served} 2>$null }; exit 0`;
  }
  const file = quote(`${folder}/${launcherName}`);
  return `[ -x ${file} ] || exit 0; exec ${file} ${words} ${mode} ${dirs.directories.map(quote).join(' ')}`;
}

// PowerShell takes the curly single quotes for plain ones, and each is said twice.
function quoteWindows(path: string): string {
  return `'${path.replace(/['\u2018-\u201b]/g, (mark) => mark + mark)}'`;
}

// Gemini CLI replaces $NAME and ${NAME} in every string before a shell sees it; `$''` is the same word to the shell only.
// Replacements are functions, because `$'` in a replacement string means something to JavaScript too.
export function quote(path: string): string {
  return `'${path.replaceAll("'", () => `'\\''`).replaceAll('$', () => `$''`)}'`;
}

/** The launcher (on Windows: fallback) file that a command runs, and the directories that the hook serves. */
export interface ParsedCommand {
  target: string;
  directories: string[];
}

/** Undefined for a command of another form. */
export function parseCommand(command: string): ParsedCommand | undefined {
  const isPosix = command.startsWith('[ -x ');
  const words = command.match(isPosix ? /(?:'[^']*'|\\')+/g : /'(?:[^']|'')*'/g) ?? [];
  const [guarded, target, ...directories] = words.map(isPosix ? unquote : unquoteWindows);
  return target === undefined || target !== guarded ? undefined : { target, directories };
}

function unquote(word: string): string {
  return word.replace(/'([^']*)'|\\'/g, (_, text?: string) => text ?? "'");
}

function unquoteWindows(word: string): string {
  return word.slice(1, -1).replace(/(['\u2018-\u201b])\1/g, '$1');
}
