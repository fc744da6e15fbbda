// Codex on the workstation: installs, verifies and removes its hooks, and gives prompts to its queue.

import type { Workstation } from '../driver.ts';
import { hookSwitches, inspectHooks } from './inspect.ts';
import { installHooks, listHooks, uninstallHooks } from './install.ts';
import { queueRun } from './queue.ts';

export const codexWorkstation: Workstation = {
  installer: {
    install: installHooks,
    uninstall: uninstallHooks,
    list: listHooks,
    afterInstall: [
      'Codex skips hooks until you trust them: start `codex` and choose "Trust all" when it asks, or type /hooks there.',
      'A session that is open reads its hooks when it is started anew. `wa-sync doctor` asks Codex which hooks it trusts.',
    ],
  },
  verify: hookSwitches,
  testedVersions: ['0.169.0'],
  inspect: inspectHooks,
  // CODEX_HOME is the settings folder itself: the installer reads the variable.
  homeOf: (_env, home) => home,
  variables: ['CODEX_HOME'],
  queue: queueRun,
};
