// The command line of a hook of wa-sync, whichever coding agent runs it, and how such a line is read back. Touches no file.

import { join, posix, win32 } from 'node:path';
import type { InstallDirs } from '../workstation.ts';

export const launcherName = 'wa-hook';
export const clientName = 'client.pl';
export const fallbackName = 'wa-hook-fallback.cjs';
/** What the fallback runs for one coding agent. */
export const bundleName = (agent: string) => `wa-hook-${agent}.cjs`;

export const programOf = ({ packageDir }: Pick<InstallDirs, 'packageDir'>) => join(packageDir, 'wa-sync.js');

/** What differs between the coding agents. */
export interface CommandWords {
  /** Tool, event and seconds. */
  words: string;
  /** `modeOf`. */
  mode: string;
  /** Below the data directory: holds a folder of the launcher's files for each version. */
  hooksFolder: string;
  /** For a POSIX shell that sees the line as it is written; a host that replaces variables first needs another. */
  quote?(path: string): string;
}

// A missing program exits 127, which some hosts take as a deny: hence the guard. `exec`, so that a signal reaches the launcher.
export function hookCommand({ words, mode, hooksFolder, quote = quoted }: CommandWords, dirs: InstallDirs): string {
  const { dataDir, version, platform, directories } = dirs;
  const folder = (platform === 'win32' ? win32 : posix).join(dataDir, hooksFolder, version);
  if (platform === 'win32') {
    const file = quoteWindows(`${folder}\\${fallbackName}`);
    const served = directories.map(quoteWindows).join(' ');
    return `if (Test-Path -LiteralPath ${file}) { Remove-Item Env:NODE_OPTIONS, Env:NODE_PATH -ErrorAction Ignore; node ${file} ${words} 0 0 ${served} 2>$null }; exit 0`;
  }
  const file = quote(`${folder}/${launcherName}`);
  return `[ -x ${file} ] || exit 0; exec ${file} ${words} ${mode} ${directories.map(quote).join(' ')}`;
}

// PowerShell takes the curly single quotes for plain ones, and each is said twice.
function quoteWindows(path: string): string {
  return `'${path.replace(/['\u2018-\u201b]/g, (mark) => mark + mark)}'`;
}

/** One word for a POSIX shell. */
export function quoted(path: string): string {
  return `'${path.replaceAll("'", () => `'\\''`)}'`;
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
