import { execFileSync } from 'node:child_process';
import { lstat, mkdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hooksCommand } from '../../../../agent/commands/hooks.ts';
import { installer } from '../../../../agent/drivers/gemini/install.ts';
import type { InstallDirs } from '../../../../agent/drivers/workstation.ts';
import type { TemporaryHome } from '../../../helpers/home.ts';
import { eachInstallation, projectSettings } from '../../../helpers/installation.ts';

let place: TemporaryHome;
let dirs: InstallDirs;
eachInstallation((ground) => {
  ({ place, dirs } = ground);
});

const settings = () => projectSettings(dirs);
const folder = () => dirname(settings());
const outside = () => join(place.home, 'dotfiles');
const launcher = () => join(dirs.dataDir, 'hooks', dirs.version, 'wa-hook');

/** Planted in place of the settings file or of its folder; the original stands outside then. */
const planted: Record<string, { what: () => string; plant: () => Promise<unknown>; code: string; repair: RegExp }> = {
  'a link to a file outside of the project': {
    what: settings,
    plant: () => symlink(join(outside(), 'settings.json'), settings()),
    code: 'file_unusable',
    repair: /settings\.json is a link.*replace it by an ordinary file/,
  },
  'a link to a file of the project': {
    what: settings,
    plant: async () => {
      await writeFile(join(place.project, 'own.json'), '{}');
      await symlink(join('..', 'own.json'), settings());
    },
    code: 'file_unusable',
    repair: /settings\.json is a link.*replace it by an ordinary file/,
  },
  'a link to nowhere': {
    what: settings,
    plant: () => symlink(join(outside(), 'nothing'), settings()),
    code: 'file_unusable',
    repair: /settings\.json is a link.*replace it by an ordinary file/,
  },
  'a pipe': {
    what: settings,
    plant: async () => execFileSync('mkfifo', [settings()]),
    code: 'file_unusable',
    repair: /Move .*settings\.json away/,
  },
  'a folder': {
    what: settings,
    plant: () => mkdir(settings()),
    code: 'file_unusable',
    repair: /Move .*settings\.json away/,
  },
  'a file of 20 GB': {
    what: settings,
    plant: async () => {
      await writeFile(settings(), '');
      await truncate(settings(), 20 * 1024 ** 3);
    },
    code: 'settings_unreadable',
    repair: /Make it smaller/,
  },
  'a link in place of its folder, out of the project': {
    what: folder,
    plant: () => symlink(outside(), folder()),
    code: 'outside_project',
    repair: /Replace the link .*\.gemini by a folder/,
  },
  'a link in place of its folder, into the project': {
    what: folder,
    plant: async () => {
      await mkdir(join(place.project, 'other'));
      await symlink('other', folder());
    },
    code: 'outside_project',
    repair: /Replace the link .*\.gemini by a folder/,
  },
  'a pipe in place of its folder': {
    what: folder,
    plant: async () => execFileSync('mkfifo', [folder()]),
    code: 'file_unusable',
    repair: /\.gemini must be a folder: move away/,
  },
  'a file in place of its folder': {
    what: folder,
    plant: () => writeFile(folder(), 'mine'),
    code: 'file_unusable',
    repair: /\.gemini must be a folder: move away/,
  },
};

async function plantAt({ what, plant }: (typeof planted)[string]): Promise<void> {
  await mkdir(outside(), { recursive: true });
  await mkdir(dirname(what()), { recursive: true });
  // Installed settings go outside, where a link finds them.
  if (await lstat(settings()).catch(() => undefined)) await rename(settings(), join(outside(), 'settings.json'));
  else await writeFile(join(outside(), 'settings.json'), '{ "theme": "dark" }');
  await rm(what(), { recursive: true, force: true });
  await plant();
}

describe.each(Object.entries(planted))('%s where a project has its settings', (_, trap) => {
  const refusal = () => expect.objectContaining({ code: trap.code, hint: expect.stringMatching(trap.repair) });
  const outsideText = () => readFile(join(outside(), 'settings.json'), 'utf8');

  it('is refused by an installation, which names the extension instead and writes nothing through it', async () => {
    await plantAt(trap);
    const before = await lstat(trap.what());
    await expect(installer.install(dirs, 'project')).rejects.toThrow(refusal());
    await expect(installer.install(dirs, 'project')).rejects.toThrow(
      expect.objectContaining({ hint: expect.stringContaining('--scope user') }),
    );
    expect(await outsideText()).toBe('{ "theme": "dark" }');
    expect((await lstat(trap.what())).ino).toBe(before.ino);
    await installer.install(dirs, 'user');
    expect((await installer.list(dirs))[0]).toMatchObject({ installed: true, current: true });
  });

  it('does not prevent the removal of other installations', async () => {
    await installer.install(dirs, 'user');
    await plantAt(trap);
    expect(await installer.uninstall(dirs, undefined)).toHaveLength(1);
    await expect(installer.uninstall(dirs, 'project')).rejects.toThrow(refusal());
    expect(await outsideText()).toBe('{ "theme": "dark" }');
  });

  it('is named when it replaced installed hooks, and the launcher that those hooks may still run stays', async () => {
    await installer.install(dirs, 'user');
    await installer.install(dirs, 'project');
    const ours = await readFile(settings(), 'utf8');
    await plantAt(trap);
    const elsewhere = { ...dirs, projectDir: place.home };
    expect(await installer.list(elsewhere)).toContainEqual(
      expect.objectContaining({ place: settings(), installed: false, problem: expect.stringMatching(trap.repair) }),
    );
    const { lines } = await hooksCommand({ action: 'list' }, dirs);
    expect(lines.join('\n')).toContain(`not known  ${settings()}`);
    await expect(installer.uninstall(elsewhere, undefined)).rejects.toThrow(refusal());
    expect(await outsideText()).toBe(ours);
    expect((await lstat(launcher())).isFile()).toBe(true);
    expect((await installer.list(dirs))[0]).toMatchObject({ scope: 'user', installed: false });

    await rm(trap.what(), { recursive: true });
    await mkdir(folder(), { recursive: true });
    await writeFile(settings(), ours);
    expect(await installer.uninstall(elsewhere, undefined)).toEqual([settings()]);
    await expect(lstat(launcher())).rejects.toThrow('ENOENT');
  });
});
