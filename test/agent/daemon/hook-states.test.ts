// What `/agents` says of the hooks of each coding agent: real installers, over the settings of one home.

import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { hookStateOf } from '../../../agent/daemon/hook-states.ts';
import type { InstallDirs } from '../../../agent/drivers/workstation.ts';
import { installable, workstationOf } from '../../../agent/drivers/workstations.ts';
import { directories } from '../../../agent/paths.ts';
import { eachInstallation, projectSettings } from '../../helpers/installation.ts';

let dirs: InstallDirs;
eachInstallation((ground) => {
  ({ dirs } = ground);
});

function stateOf(agent: string, elsewhere: Record<string, string> = {}) {
  const [WA_RUNTIME_DIR = '', WA_CONFIG_DIR = '', WA_STATE_DIR = ''] = dirs.directories;
  const env = { ...{ WA_RUNTIME_DIR, WA_CONFIG_DIR, WA_STATE_DIR }, ...elsewhere };
  const { home, platform, projectDir } = dirs;
  return hookStateOf(agent, { dirs: directories({ env, platform, home }), dir: projectDir, env: {}, home });
}
const install = (agent: string, scope: 'user' | 'project' = 'user') =>
  workstationOf(agent)?.installer.install(dirs, scope);

it('is missing before the installation, and afterwards as the settings of the agent allow', async () => {
  const all = () => Promise.all(installable().map(async (agent) => `${agent} ${await stateOf(agent)}`));
  expect(await all()).toEqual(['gemini missing', 'claude missing', 'codex missing']);
  for (const agent of installable()) await install(agent);
  // Nobody has trusted those of Codex.
  expect(await all()).toEqual(['gemini installed', 'claude installed', 'codex off']);
  expect(await stateOf('agy')).toBeUndefined();
});

it('counts the hooks of this project, and not those of another one or of another daemon', async () => {
  await install('gemini', 'project');
  expect(await stateOf('gemini')).toBe('installed');
  expect(await stateOf('gemini', { WA_RUNTIME_DIR: '/elsewhere' })).toBe('off');
  dirs = { ...dirs, projectDir: join(dirname(dirs.projectDir), 'other') };
  expect(await stateOf('gemini')).toBe('missing');
});

it('is not known where the settings cannot be read', async () => {
  await mkdir(dirname(projectSettings(dirs)));
  await symlink('/etc/hostname', projectSettings(dirs));
  expect(await stateOf('gemini')).toBe('unread');
});
