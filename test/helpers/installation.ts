// A home, and a package that hooks are installed from; made anew for each test. Holds no expectations.

import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach } from 'vitest';
import { hookEvents, hookGroup } from '../../agent/drivers/gemini/install-table.ts';
import { allDrivers } from '../../agent/drivers/registry.ts';
import type { InstallDirs } from '../../agent/drivers/workstation.ts';
import { type TemporaryHome, temporaryHome } from './home.ts';

const launcher = fileURLToPath(new URL('../../hooks/wa-hook', import.meta.url));

interface Ground {
  place: TemporaryHome;
  dirs: InstallDirs;
}

/** `take` gets what each test begins with. The answer moves a test below a folder of another name. */
export function eachInstallation(take: (ground: Ground) => void): (name: string) => Promise<void> {
  let place: TemporaryHome;

  async function open(name?: string): Promise<void> {
    place = await temporaryHome(name);
    const packageDir = join(place.root, 'package');
    await mkdir(packageDir);
    await copyFile(launcher, join(packageDir, 'wa-hook'));
    await copyFile(join(dirname(launcher), 'client.pl'), join(packageDir, 'client.pl'));
    await writeFile(join(packageDir, 'wa-hook-fallback.cjs'), 'console.log(\'{"from":"fallback"}\')\n');
    for (const { name } of allDrivers()) await writeFile(join(packageDir, `wa-hook-${name}.cjs`), '');
    const dirs: InstallDirs = {
      home: place.home,
      dataDir: join(place.home, '.local', 'share', 'wa-sync'),
      projectDir: place.project,
      packageDir,
      version: '0.1.0',
      platform: 'linux',
      directories: ['run', 'config', 'state'].map((name) => join(place.root, name)),
    };
    take({ place, dirs });
  }

  beforeEach(() => open());
  afterEach(() => place.close());
  return async (name) => {
    await place.close();
    await open(name);
  };
}

/** Where a project keeps its hooks. */
export function projectSettings({ projectDir }: InstallDirs): string {
  return join(projectDir, '.gemini', 'settings.json');
}

/** What stands under `hooks` where this version is installed and nothing else is. */
export function expectedHooks(dirs: InstallDirs) {
  return Object.fromEntries(hookEvents.map((event) => [event, [hookGroup(event, dirs)]]));
}
