// What is installed into Codex: a hook for each event, and its command line. Touches no file.

import { join } from 'node:path';
import { hookEventsOf } from '../hook-call.ts';
import { fallbackName, hookCommand, launcherName } from '../install/command.ts';
import type { ProjectSettings } from '../install/project.ts';
import type { HookGroup, HookTable } from '../install/settings.ts';
import { modeOf } from '../registry.ts';
import type { InstallDirs } from '../workstation.ts';
import { codex } from './driver.ts';

/** Below the data directory. */
const hooksFolder = 'hooks-codex';

export const hooksDir = ({ dataDir }: Pick<InstallDirs, 'dataDir'>) => join(dataDir, hooksFolder);

export const hooksFile = 'hooks.json';

/** Codex no longer trusts a command that changes, so no version stands in the path: the launcher is replaced in its place. */
export const forAllVersions = (dirs: InstallDirs): InstallDirs => ({ ...dirs, version: 'launcher' });

function hookGroup(event: string, dirs: InstallDirs): HookGroup {
  const seconds = codex.maxSeconds(event) ?? 0;
  const words = { words: `codex ${event} ${seconds}`, mode: modeOf('codex', event), hooksFolder };
  const says = saysWhileRunning[event];
  const more = says === undefined ? {} : { statusMessage: says };
  return { hooks: [{ type: 'command', command: hookCommand(words, forAllVersions(dirs)), timeout: seconds, ...more }] };
}

/** All that a person sees of a wait for the phone. */
const saysWhileRunning: Readonly<Record<string, string>> = {
  PreToolUse: 'wa-sync: may ask your phone',
  PermissionRequest: 'wa-sync: asks your phone for 20 seconds',
  Stop: 'wa-sync: may wait for your phone; Esc gives the keyboard back',
};

const hookTable: HookTable = {
  events: hookEventsOf(codex),
  groupOf: hookGroup,
  isOwn: ({ command }) => typeof command === 'string' && isOwnCommand(command),
};

/** Of whatever data directory. */
export function isOwnCommand(command: string): boolean {
  return command.includes(`${launcherName}' codex `) || command.includes(`${fallbackName}' codex `);
}

export const projectSettings: ProjectSettings = {
  agent: codex.name,
  path: ['.codex', hooksFile],
  table: hookTable,
  hooksFolder,
  named: `${launcherName}' codex `,
};
