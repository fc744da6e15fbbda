// Codex on the workstation: installs, verifies and removes its hooks, and gives prompts to its queue.

import type { Workstation } from '../workstation.ts';
import { trusts } from './folder-trust.ts';
import { hookSwitches, inspectHooks } from './inspect.ts';
import { installer } from './install.ts';
import { queueRun } from './queue.ts';

export const codexWorkstation: Workstation = {
  installer,
  verify: hookSwitches,
  testedVersions: ['0.169.0'],
  inspect: inspectHooks,
  // CODEX_HOME is the settings folder itself: the installer reads the variable.
  homeOf: (_env, home) => home,
  trusts,
  variables: ['CODEX_HOME'],
  queue: queueRun,
};
