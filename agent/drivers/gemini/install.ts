// What the shared installer has to know about Gemini CLI: for a person the hooks are a linked extension, and in a project they stand in its
// settings.

import { join } from 'node:path';
import { ensureFile, forget, removeFolders, textOf } from '../install/files.ts';
import { createInstaller, type UserPlaces } from '../install/installer.ts';
import { itemsOf, member } from '../install/json-text.ts';
import { ownCommands } from '../install/settings.ts';
import type { InstallDirs } from '../workstation.ts';
import {
  extensionDir,
  extensionFiles,
  extensionHooks,
  refuseForeignExtension,
  sourcesDir,
  uninstallExtension,
} from './install-extension.ts';
import { hookTable, ownNamePrefix, projectSettings } from './install-table.ts';

const extension: UserPlaces = {
  place: ({ home }) => extensionDir(home),
  known: ({ home }) => [extensionDir(home)],
  isRecorded: () => false,
  async install(dirs, { made }) {
    await refuseForeignExtension(dirs.home);
    for (const file of extensionFiles(dirs)) await ensureFile(file, made);
    await removeFolders(sourcesDir(dirs.dataDir), (version) => version === dirs.version);
  },
  uninstall: (dirs) => uninstallExtension(dirs),
  async find(dirs) {
    const texts = await Promise.all(extensionFiles(dirs).map(async ({ path, text }) => (await textOf(path)) === text));
    return { commands: ownCommands(await extensionHooks(dirs.home), hookTable), current: texts.every(Boolean) };
  },
  isThere: async ({ home }) => (await extensionHooks(home)) !== undefined,
};

export const installer = createInstaller({
  settings: projectSettings,
  user: extension,
  forgetProject: forgetTrust,
  afterInstall: ['Gemini CLI reads its hooks at start: restart a session that is open.'],
});

/** Gemini CLI remembers the announced hooks of a project as "name:command". */
function forgetTrust({ home }: InstallDirs, project: string): Promise<void> {
  return forget(join(home, '.gemini', 'trusted_hooks.json'), (root) => {
    const list = member(root, project);
    const names = itemsOf(list, 'array').map(({ value }) => value);
    const own = names.find(({ value }) => String(value).startsWith(ownNamePrefix));
    return own && names.length === 1 ? list : own;
  });
}
