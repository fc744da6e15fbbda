// What is installed into Gemini CLI: a hook for each event, its command line, and the MCP server. Touches no file.

import { join, posix, win32 } from 'node:path';
import type { InstallDirs } from '../driver.ts';
import { modeOf } from '../registry.ts';
import { gemini } from './driver.ts';

export const hookEvents = Object.keys(gemini.events).filter((event) => gemini.maxSeconds(event) !== undefined);

/** The names of all hooks of wa-sync, of whatever version, begin so. */
export const ownNamePrefix = 'wa-sync-';

export const launcherName = 'wa-hook';
export const clientName = 'client.pl';
export const fallbackName = 'wa-hook-fallback.cjs';

export const programOf = ({ packageDir }: InstallDirs) => join(packageDir, 'wa-sync.js');

/** The folder that holds the launcher's files of one version. */
function launcherDir({ dataDir, version, platform }: InstallDirs): string {
  return (platform === 'win32' ? win32 : posix).join(dataDir, 'hooks', version);
}

/** The MCP server, run from the package. Without the package the server ends at once, which Gemini CLI reports and survives. */
export function mcpServer(dirs: InstallDirs): { command: string; args: string[] } {
  if (dirs.platform === 'win32') return { command: 'node', args: [programOf(dirs), 'mcp'] };
  const file = quote(programOf(dirs));
  return { command: 'sh', args: ['-c', `[ -r ${file} ] || exit 0; exec node ${file} mcp`] };
}

/** An item of the list of an event, as Gemini CLI's settings spell it. */
export interface HookGroup {
  matcher?: string;
  hooks: [{ type: 'command'; name: string; command: string; timeout: number }];
}

export function hookGroup(event: string, dirs: InstallDirs): HookGroup {
  const seconds = gemini.maxSeconds(event) ?? 0;
  const command = hookCommand(`gemini ${event} ${seconds}`, modeOf('gemini', event), dirs);
  const group: HookGroup = {
    hooks: [{ type: 'command', name: nameOf(event), command, timeout: seconds * 1000 }],
  };
  // With `auto` the event comes before every request, whether anything is compressed or not.
  return event === 'PreCompress' ? { matcher: 'manual', ...group } : group;
}

/** The CLI shows the name while the hook runs, which is all that a person sees of the wait for the phone. */
function nameOf(event: string): string {
  const says = gemini.events[event] === 'turnEnd' ? ' (waits for your phone; any key ends the wait)' : '';
  return `${ownNamePrefix}${event}${says}`;
}

// A missing program exits 127, which Gemini CLI takes as a deny: hence the guard. `exec`, so that a signal reaches the launcher.
function hookCommand(words: string, mode: string, dirs: InstallDirs): string {
  if (dirs.platform === 'win32') {
    const file = quoteWindows(`${launcherDir(dirs)}\\${fallbackName}`);
    const served = dirs.directories.map(quoteWindows).join(' ');
    return `if (Test-Path -LiteralPath ${file}) { Remove-Item Env:NODE_OPTIONS, Env:NODE_PATH -ErrorAction Ignore; node ${file} ${words} 0 0 ${served} 2>$null }; exit 0`;
  }
  const file = quote(`${launcherDir(dirs)}/${launcherName}`);
  return `[ -x ${file} ] || exit 0; exec ${file} ${words} ${mode} ${dirs.directories.map(quote).join(' ')}`;
}

// PowerShell takes the curly single quotes for plain ones, and each is said twice.
function quoteWindows(path: string): string {
  return `'${path.replace(/['\u2018-\u201b]/g, (mark) => mark + mark)}'`;
}

// Gemini CLI replaces $NAME and ${NAME} in every string before a shell sees it; `$''` is the same word to the shell only.
// Replacements are functions, because `$'` in a replacement string means something to JavaScript too.
function quote(path: string): string {
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
