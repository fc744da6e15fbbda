// What is installed into Codex: a hook for each event, and its command line. Touches no file.

import type { InstallDirs } from '../driver.ts';
import { fallbackName, hookCommand, launcherFolder, launcherName } from '../hook-files/command.ts';
import type { ProjectSettings } from '../hook-files/project.ts';
import type { HookGroup } from '../hook-files/settings.ts';
import { modeOf } from '../registry.ts';
import { codex } from './driver.ts';

export const hookEvents = Object.keys(codex.events).filter((event) => codex.maxSeconds(event) !== undefined);

/** Holds the launcher of every version: a command that changes is no longer trusted, so that no version may stand in its path. */
export const launchersName = 'codex-hooks';

export const hooksFile = 'hooks.json';

/** In a project; the user's own file has the same shape. */
export const settings: ProjectSettings = {
  agent: 'codex',
  path: ['.codex', hooksFile],
  events: hookEvents,
  isOwn: ({ command }) =>
    typeof command === 'string' &&
    command.includes(launchersName) &&
    (command.includes(launcherName) || command.includes(fallbackName)),
  mark: launchersName,
};

export function hookGroup(event: string, dirs: InstallDirs): HookGroup {
  const seconds = codex.maxSeconds(event) ?? 0;
  const folder = launcherFolder(dirs, launchersName);
  const command = hookCommand(`codex ${event} ${seconds}`, modeOf('codex', event), dirs, folder);
  const says = saysWhileRunning[event];
  return { hooks: [{ type: 'command', command, timeout: seconds, ...(says ? { statusMessage: says } : {}) }] };
}

/** All that a person sees of a wait for the phone. */
const saysWhileRunning: Readonly<Record<string, string>> = {
  PreToolUse: 'wa-sync: may ask your phone',
  PermissionRequest: 'wa-sync: asks your phone for 20 seconds',
  Stop: 'wa-sync: may wait for your phone; Esc gives the keyboard back',
};
