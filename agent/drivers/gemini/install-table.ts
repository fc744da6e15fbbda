// What is installed into Gemini CLI: one row per event, the command line of a row, and the MCP server. Pure.

import { modeOf } from '../registry.ts';
import { gemini } from './driver.ts';

export interface HookRow {
  event: string;
  /** Gemini CLI ends the hook after this long; it must stay below 2^31. */
  timeoutMs: number;
  /** Only then, where the event says what caused it. */
  matcher?: string;
}

export const hookTable: readonly HookRow[] = Object.keys(gemini.events).flatMap((event): HookRow[] => {
  const seconds = gemini.maxSeconds(event);
  if (seconds === undefined) return [];
  // With `auto` the event comes before every request, whether anything is compressed or not.
  return [{ event, timeoutMs: seconds * 1000, ...(event === 'PreCompress' ? { matcher: 'manual' } : {}) }];
});

/** Entries whose name starts so are ours, of whatever version. */
export const ownNamePrefix = 'wa-sync-';

/** One hook as Gemini CLI's settings spell it. */
export interface HookEntry {
  type: 'command';
  name: string;
  command: string;
  timeout: number;
}

/** The folder that holds the launcher's files of one version. */
export interface LauncherPlace {
  dir: string;
  platform: NodeJS.Platform;
  /** What the hooks serve, as `hookDirectories` gives it: it stands in their command line. */
  directories: readonly string[];
}

export const launcherName = 'wa-hook';
export const clientName = 'client.pl';
export const fallbackName = 'wa-hook-fallback.cjs';
export const programName = 'wa-sync.js';

/** The MCP server, run from the package. Without the package the server ends at once, which Gemini CLI reports and survives. */
export function mcpServer(program: string, platform: NodeJS.Platform): { command: string; args: string[] } {
  if (platform === 'win32') return { command: 'node', args: [program, 'mcp'] };
  const file = quote(program);
  return { command: 'sh', args: ['-c', `[ -r ${file} ] || exit 0; exec node ${file} mcp`] };
}

export function hookEntry(row: HookRow, place: LauncherPlace): HookEntry {
  return {
    type: 'command',
    name: `${ownNamePrefix}${row.event}`,
    command: hookCommand(row, place),
    timeout: row.timeoutMs,
  };
}

/** An item of the list of an event. */
export function hookGroup(row: HookRow, place: LauncherPlace): { matcher?: string; hooks: HookEntry[] } {
  return { ...(row.matcher === undefined ? {} : { matcher: row.matcher }), hooks: [hookEntry(row, place)] };
}

// A missing program exits 127, which Gemini CLI takes as a deny: hence the guard. `exec`, so that a signal reaches the launcher.
function hookCommand(row: HookRow, { dir, platform, directories }: LauncherPlace): string {
  const words = `gemini ${row.event} ${row.timeoutMs / 1000}`;
  if (platform === 'win32') {
    const file = quoteWindows(`${dir}\\${fallbackName}`);
    const dirs = directories.map(quoteWindows).join(' ');
    return `if (Test-Path -LiteralPath ${file}) { Remove-Item Env:NODE_OPTIONS, Env:NODE_PATH -ErrorAction Ignore; node ${file} ${words} 0 0 ${dirs} 2>$null }; exit 0`;
  }
  const file = quote(`${dir}/${launcherName}`);
  return `[ -x ${file} ] || exit 0; exec ${file} ${words} ${modeOf('gemini', row.event)} ${directories.map(quote).join(' ')}`;
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

export interface ParsedCommand {
  /** The launcher (on Windows: fallback) file that the command runs. */
  target: string;
  directories: string[];
}

const posixWord = /(?:'[^']*'|\\')+/g;
const windowsWord = /'(?:[^']|'')*'/g;

/** Undefined for a command of another form. */
export function parseCommand(command: string): ParsedCommand | undefined {
  const posix =
    /^\[ -x ((?:'[^']*'|\\')+) \] \|\| exit 0; exec \1 gemini \w+ \d+ (?:now|hold|gate)((?: (?:'[^']*'|\\')+)+)$/.exec(
      command,
    );
  const windows =
    /^if \(Test-Path -LiteralPath ('(?:[^']|'')*')\) \{ Remove-Item [\w:, -]+; node \1 gemini \w+ \d+ 0 0((?: '(?:[^']|'')*')+) 2>\$null \}; exit 0$/.exec(
      command,
    );
  const [, file, rest] = posix ?? windows ?? [];
  const words = `${file}${rest}`.match(posix ? posixWord : windowsWord) ?? [];
  const [target, ...directories] = words.map((word) => (posix ? unquote(word) : unquoteWindows(word)));
  return target === undefined ? undefined : { target, directories };
}

function unquote(word: string): string {
  return word.replace(/'([^']*)'|\\'/g, (_, text?: string) => text ?? "'");
}

function unquoteWindows(word: string): string {
  return word.slice(1, -1).replace(/(['\u2018-\u201b])\1/g, '$1');
}
