// What is installed into Gemini CLI: a hook for each event, its command line, and the MCP server. Touches no file.

import { hookEventsOf } from '../hook-call.ts';
import { hookCommand, programOf, quoted } from '../install/command.ts';
import type { ProjectSettings } from '../install/project.ts';
import type { HookGroup, HookTable } from '../install/settings.ts';
import { modeOf } from '../registry.ts';
import type { InstallDirs } from '../workstation.ts';
import { gemini } from './driver.ts';

export const hookEvents = hookEventsOf(gemini);

/** The names of all hooks of wa-sync, of whatever version, begin so. */
export const ownNamePrefix = 'wa-sync-';

/** Below the data directory. */
const hooksFolder = 'hooks';

/** The MCP server, run from the package. Without the package the server ends at once, which Gemini CLI reports and survives. */
export function mcpServer(dirs: InstallDirs): { command: string; args: string[] } {
  if (dirs.platform === 'win32') return { command: 'node', args: [programOf(dirs), 'mcp'] };
  const file = quote(programOf(dirs));
  return { command: 'sh', args: ['-c', `[ -r ${file} ] || exit 0; exec node ${file} mcp`] };
}

export function hookGroup(
  event: string,
  dirs: InstallDirs,
): HookGroup & { hooks: [{ type: 'command'; name: string; command: string; timeout: number }] } {
  const seconds = gemini.maxSeconds(event) ?? 0;
  const words = `gemini ${event} ${seconds}`;
  const command = hookCommand({ words, mode: modeOf('gemini', event), hooksFolder, quote }, dirs);
  const group: ReturnType<typeof hookGroup> = {
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

// Gemini CLI replaces $NAME and ${NAME} in every string before a shell sees it; `$''` is the same word to the shell only.
// Replacements are functions, because `$'` in a replacement string means something to JavaScript too.
function quote(path: string): string {
  return quoted(path).replaceAll('$', () => `$''`);
}

/** What Gemini CLI's settings and an extension's hooks.json get. */
export const hookTable: HookTable = {
  events: hookEvents,
  groupOf: hookGroup,
  isOwn: ({ name }) => typeof name === 'string' && name.startsWith(ownNamePrefix),
};

export const projectSettings: ProjectSettings = {
  agent: gemini.name,
  path: ['.gemini', 'settings.json'],
  table: hookTable,
  hooksFolder,
  named: ownNamePrefix,
};
