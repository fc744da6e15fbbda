// What is installed into Otter: a hook for each event, in .otter/gates.json of a home or of a project.

import { join } from 'node:path';
import { hookCommand } from '../../../agent/drivers/install/command.ts';
import { createInstaller } from '../../../agent/drivers/install/installer.ts';
import type { ProjectSettings } from '../../../agent/drivers/install/project.ts';
import type { HookTable } from '../../../agent/drivers/install/settings.ts';
import { userFile } from '../../../agent/drivers/install/user-file.ts';
import { modeOf } from '../../../agent/drivers/registry.ts';
import { otter } from './driver.ts';

const hooksFolder = 'hooks-otter';

const table: HookTable = {
  events: Object.keys(otter.events),
  groupOf(event, dirs) {
    const seconds = otter.maxSeconds(event) ?? 0;
    // The launcher knows no event: the mode says how long its answer may take.
    const command = { words: `otter ${event} ${seconds}`, mode: modeOf('otter', event), hooksFolder };
    return { hooks: [{ type: 'command', command: hookCommand(command, dirs), timeout: seconds }] };
  },
  isOwn: ({ command }) => /wa-hook' otter |fallback\.cjs' otter /.test(String(command)),
};

const settings: ProjectSettings = {
  agent: 'otter',
  path: ['.otter', 'gates.json'],
  table,
  hooksFolder,
  named: "wa-hook' otter ",
};

export const installer = createInstaller({
  settings,
  user: userFile({ settings, pathOf: ({ home }) => join(home, '.otter', 'gates.json') }),
  afterInstall: ['Otter reads its hooks at start: restart a session that is open.'],
});
