// What is installed into Gemini CLI: a hook for each event, its command line, and the MCP server. Touches no file.

import type { InstallDirs } from '../driver.ts';
import { hookCommand, launcherFolder, programOf, quote } from '../hook-files/command.ts';
import type { ProjectSettings } from '../hook-files/project.ts';
import { modeOf } from '../registry.ts';
import { gemini } from './driver.ts';

export const hookEvents = Object.keys(gemini.events).filter((event) => gemini.maxSeconds(event) !== undefined);

/** The names of all hooks of wa-sync, of whatever version, begin so. */
export const ownNamePrefix = 'wa-sync-';

/** In a project; the hooks of the extension have the same shape. */
export const settings: ProjectSettings = {
  agent: 'gemini',
  path: ['.gemini', 'settings.json'],
  events: hookEvents,
  isOwn: ({ name }) => typeof name === 'string' && name.startsWith(ownNamePrefix),
  mark: ownNamePrefix,
};

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
  const command = hookCommand(`gemini ${event} ${seconds}`, modeOf('gemini', event), dirs, launcherFolder(dirs, 'hooks', dirs.version));
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

