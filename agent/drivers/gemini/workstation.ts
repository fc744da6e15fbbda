// Gemini CLI on the workstation: installs, verifies and removes its hooks, and wakes its idle terminal.

import { nudgeInTmux } from '../nudge.ts';
import type { Workstation } from '../workstation.ts';
import { dialogKeys } from './dialogs.ts';
import { hookSwitches } from './hook-switches.ts';
import { inspectHooks } from './inspect.ts';
import { installer } from './install.ts';
import { receivedFilesFolder } from './received-files.ts';

export const geminiWorkstation: Workstation = {
  installer,
  verify: hookSwitches,
  testedVersions: ['0.61.0'],
  inspect: inspectHooks,
  homeOf: (env, home) => env.GEMINI_CLI_HOME || home,
  variables: ['GEMINI_CLI_HOME'],
  // The CLI shows this text in the empty prompt only.
  nudge: (pid, typing) => nudgeInTmux(pid, typing, (screen) => screen.includes('Type your message')),
  // Escape ends the turn whatever the dialog is.
  dialogs: { keysOn: dialogKeys, cancel: 'Escape' },
  skillArgs: (skill, on) => ['skills', on ? 'enable' : 'disable', skill],
  filesFolder: receivedFilesFolder,
};
