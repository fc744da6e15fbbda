// Whether the hooks of a coding agent stand in the settings that count in a project, for the answer of `/agents`. Reads settings files and
// starts no program.

import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { Config } from '../config.ts';
import type { InstallDirs } from '../drivers/workstation.ts';
import { workstationOf } from '../drivers/workstations.ts';
import { isInside } from '../fs/below.ts';
import type { HookState } from '../phone/owned-commands.ts';
import { version } from '../version.ts';

export interface HookPlace {
  dirs: Config['dirs'];
  /** Of the project. */
  dir: string;
  env: NodeJS.ProcessEnv;
  home?: string;
}

/** Undefined = wa-sync has no hooks for this agent. Never rejects. */
export async function hookStateOf(
  agent: string,
  { dirs, dir, env, home = homedir() }: HookPlace,
): Promise<HookState | undefined> {
  const workstation = workstationOf(agent);
  if (!workstation) return undefined;
  const place: InstallDirs = {
    home: workstation.homeOf(env, home),
    dataDir: dirs.data,
    projectDir: dir,
    // Only what is newer could be told by the package.
    packageDir: dirs.data,
    version,
    platform: process.platform,
    directories: [dirs.runtime, dirs.config, dirs.state].map((each) => resolve(each)),
    env,
  };
  try {
    const all = await workstation.installer.list(place);
    const here = all.filter((status) => status.scope === 'user' || isInside(status.place, dir));
    const installed = here.filter((status) => status.installed);
    if (installed.length === 0) return here.some(({ problem }) => problem !== undefined) ? 'unread' : 'missing';
    const serves = installed.some(({ servesThese, launcherExists }) => servesThese && launcherExists);
    return serves && (await workstation.verify(dir, place.home)).length === 0 ? 'installed' : 'off';
  } catch {
    return 'unread';
  }
}
