// Claude Code on the workstation: installs, verifies and removes its hooks, and wakes its idle session.

import type { Workstation } from '../workstation.ts';
import { trusts } from './folder-trust.ts';
import { hookSwitches } from './hook-switches.ts';
import { inspectHooks } from './inspect.ts';
import { installer, userSettings } from './install.ts';
import { canNudge, nudge } from './nudge.ts';
import { replacedResult } from './results.ts';

export const claudeWorkstation: Workstation = {
  installer,
  verify: (projectDir, home) => hookSwitches(projectDir, userSettings({ home })),
  testedVersions: ['2.1.329'],
  inspect: inspectHooks,
  // `CLAUDE_CONFIG_DIR` is the settings folder itself, which the installer takes from the environment.
  homeOf: (_env, home) => home,
  trusts,
  variables: ['CLAUDE_CONFIG_DIR'],
  replacedResult,
  nudge,
  canNudge,
};
