// What the shared installer has to know about Claude Code: its settings files and the launchers of its hooks.

import { join } from 'node:path';
import { createInstaller } from '../install/installer.ts';
import { userFile } from '../install/user-file.ts';
import type { InstallDirs } from '../workstation.ts';
import { projectSettings } from './install-table.ts';

/** `dirs.home` is the folder that holds `.claude`; `CLAUDE_CONFIG_DIR` is that folder itself, wherever it is. */
export const userSettings = ({ home, env }: Pick<InstallDirs, 'home' | 'env'>) =>
  join(env?.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'settings.json');

export const installer = createInstaller({
  settings: projectSettings,
  user: userFile({ settings: projectSettings, pathOf: userSettings }),
  afterInstall: ['Claude Code reads its hooks at start: restart a session that is open.'],
});
