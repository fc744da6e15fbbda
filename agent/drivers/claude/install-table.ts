// What is installed into Claude Code: a hook for each event that has one. Touches no file.

import { hookEventsOf } from '../hook-call.ts';
import { fallbackName, hookCommand, launcherName } from '../install/command.ts';
import type { ProjectSettings } from '../install/project.ts';
import type { HookGroup, HookTable } from '../install/settings.ts';
import { modeOf } from '../registry.ts';
import type { InstallDirs } from '../workstation.ts';
import { claude } from './driver.ts';

/** Below the data directory; of its own, so that no other agent's installation removes a version that is in use here. */
const hooksFolder = 'hooks-claude';

/** The host shows it while the hook runs, and names the hook by it to the model in place of the command line. */
const heldStatus = 'wa-sync waits for your phone; Esc gives the keyboard back';
const asksStatus = 'wa-sync asks on your phone, too';

function hookGroup(event: string, dirs: InstallDirs): HookGroup {
  const seconds = claude.maxSeconds(event) ?? 0;
  const mode = modeOf('claude', event);
  const command = hookCommand({ words: `claude ${event} ${seconds}`, mode, hooksFolder }, dirs);
  const says = event === 'Stop' ? heldStatus : event === 'PermissionRequest' ? asksStatus : undefined;
  // The host counts in seconds. Its shell is bash or sh, on Windows too unless it is told otherwise.
  const shell = dirs.platform === 'win32' ? { shell: 'powershell' } : {};
  // The terminal shows a text when its hook has ended, unless the hook runs beside it.
  const beside = event === 'MessageDisplay' ? { async: true } : {};
  const entry = {
    type: 'command',
    command,
    timeout: seconds,
    ...shell,
    ...beside,
    ...(says ? { statusMessage: says } : {}),
  };
  return { hooks: [entry] };
}

export const hookTable: HookTable = {
  events: hookEventsOf(claude),
  groupOf: hookGroup,
  isOwn: ({ command }) => typeof command === 'string' && isOwnCommand(command),
};

/** Of whatever version and data directory. */
export function isOwnCommand(command: string): boolean {
  return ownCommand.test(command) && (command.includes(launcherName) || command.includes(fallbackName));
}

const ownCommand = /(?:wa-hook|wa-hook-fallback\.cjs)' claude [A-Z]/;

/** It names paths of this machine, so it is not what others get with the repository. */
export const projectSettings: ProjectSettings = {
  agent: claude.name,
  path: ['.claude', 'settings.local.json'],
  table: hookTable,
  hooksFolder,
  named: `${launcherName}' claude `,
};
