// Claude Code on the workstation: installs, verifies and removes its hooks, and wakes its idle session.

import type { Workstation } from '../driver.ts';
import { trusts } from './folder-trust.ts';
import { hookSwitches } from './hook-switches.ts';
import { inspectHooks } from './inspect.ts';
import { installHooks, listHooks, uninstallHooks } from './install.ts';
import { canNudge, nudge } from './nudge.ts';

export const claudeWorkstation: Workstation = {
  installer: {
    install: installHooks,
    uninstall: uninstallHooks,
    list: listHooks,
    afterInstall: ['Claude Code reads its hooks at start: restart a session that is open.'],
  },
  verify: hookSwitches,
  testedVersions: ['2.1.329'],
  inspect: inspectHooks,
  // `CLAUDE_CONFIG_DIR` is the settings folder itself, which the installer takes from the environment.
  homeOf: (_env, home) => home,
  trusts,
  variables: ['CLAUDE_CONFIG_DIR'],
  nudge,
  canNudge,
};
