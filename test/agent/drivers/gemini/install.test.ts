import { chmod, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { installer } from '../../../../agent/drivers/gemini/install.ts';
import type { HookScope, InstallDirs } from '../../../../agent/drivers/workstation.ts';
import type { TemporaryHome } from '../../../helpers/home.ts';
import { eachInstallation, projectSettings } from '../../../helpers/installation.ts';

let place: TemporaryHome;
let dirs: InstallDirs;
eachInstallation((ground) => {
  ({ place, dirs } = ground);
});

const settings = () => projectSettings(dirs);
const newer = () => ({ ...dirs, version: '0.2.0' });

describe.each(['user', 'project'] as const)('hooks in the scope %s', (scope: HookScope) => {
  it('leave no trace after install and uninstall', async () => {
    const before = await place.snapshot();
    await installer.install(dirs, scope);
    expect(await place.snapshot()).not.toEqual(before);
    expect(await installer.uninstall(dirs, scope)).toHaveLength(1);
    expect(await place.snapshot()).toEqual(before);
    expect(await installer.uninstall(dirs, undefined)).toEqual([]);
    expect(await place.snapshot()).toEqual(before);
  });

  it('are the same bytes after a second install', async () => {
    const first = await installer.install(dirs, scope);
    const before = await place.snapshot();
    expect(await installer.install(dirs, scope)).toEqual(first);
    expect(await place.snapshot()).toEqual(before);
  });

  it('move to a newer version, which a running agent survives, and still leave no trace', async () => {
    const before = await place.snapshot();
    await installer.install(dirs, scope);
    const status = await installer.install(newer(), scope);
    expect(status).toMatchObject({ installed: true, version: '0.2.0', launcherExists: true, current: true });
    expect((await stat(join(dirs.dataDir, 'hooks', '0.1.0', 'wa-hook'))).isFile()).toBe(true);
    await installer.install(newer(), scope);
    expect(Object.keys(await place.snapshot()).filter((path) => path.includes('0.1.0'))).toEqual([]);
    await installer.uninstall(newer(), scope);
    expect(await place.snapshot()).toEqual(before);
  });

  it('are listed with version, launcher and trouble', async () => {
    const of = async () => (await installer.list(dirs)).find((status) => status.scope === scope);
    expect(await of()).toMatchObject({ installed: false, version: undefined, launcherExists: false, current: false });
    await installer.install(dirs, scope);
    const file = join(dirs.dataDir, 'hooks', '0.1.0', 'wa-hook');
    expect(await of()).toMatchObject({
      installed: true,
      version: '0.1.0',
      launcher: file,
      launcherExists: true,
      current: true,
    });
    await rm(file);
    expect(await of()).toMatchObject({ installed: true, launcherExists: false });
    await installer.install(dirs, scope);
    expect((await stat(file)).mode & 0o777).toBe(0o755);
  });

  it('repair a launcher that lost its mode or its content', async () => {
    await installer.install(dirs, scope);
    const before = await place.snapshot();
    const file = join(dirs.dataDir, 'hooks', '0.1.0', 'wa-hook');
    await chmod(file, 0o600);
    await installer.install(dirs, scope);
    await writeFile(file, 'exit 1');
    await installer.install(dirs, scope);
    expect(await place.snapshot()).toEqual(before);
  });

  it('are not installed from a package without the fallback, and leave no file behind', async () => {
    await rm(join(dirs.packageDir, 'wa-hook-fallback.cjs'));
    const before = await place.snapshot();
    await expect(installer.install(dirs, scope)).rejects.toThrow(expect.objectContaining({ code: 'file_unusable' }));
    expect(await place.snapshot()).toEqual(before);
  });
});

describe('the record of an installation', () => {
  const record = () => join(dirs.dataDir, 'hooks', 'installed.json');

  it.each([
    ['another format', '{"format":2,"made":[],"projects":{}}'],
    ['damage', '{"format":1,'],
    ['another type', 'null'],
  ])('with %s stops every command with its repair, and no file changes', async (_, text) => {
    await installer.install(dirs, 'project');
    await writeFile(record(), text);
    const before = await place.snapshot();
    const refusal = expect.objectContaining({
      code: 'file_unusable',
      hint: expect.stringContaining(`Remove ${record()}`),
    });
    await expect(installer.install(newer(), 'project')).rejects.toThrow(refusal);
    await expect(installer.uninstall(dirs, undefined)).rejects.toThrow(refusal);
    await expect(installer.list(dirs)).rejects.toThrow(refusal);
    expect(await place.snapshot()).toEqual(before);

    await rm(record());
    expect(await installer.uninstall(dirs, 'project')).toEqual([settings()]);
  });

  it('is readable by its user alone, because it holds the settings that stood there before', async () => {
    await place.write('dev/project/.gemini/settings.json', '{"theme":"dark"}');
    await installer.install(dirs, 'project');
    expect((await stat(record())).mode & 0o777).toBe(0o600);
  });
});

describe("Gemini CLI's memory of announced hooks", () => {
  it('loses the hooks of wa-sync with the project, and no others', async () => {
    const trusted = (names: string[]) =>
      `${JSON.stringify({ '/other': ['wa-sync-x:y'], [place.project]: names }, null, 2)}`;
    const file = await place.write('dev/.gemini/trusted_hooks.json', trusted(['mine:true']));
    const before = await place.snapshot();
    await installer.install(dirs, 'project');
    await writeFile(file, trusted(['wa-sync-BeforeAgent:a', 'mine:true', 'wa-sync-AfterAgent:b']));
    await installer.uninstall(dirs, 'project');
    expect(await place.snapshot()).toEqual(before);
  });

  it('is removed as a file when only hooks of wa-sync stood there', async () => {
    const before = Object.keys(await place.snapshot());
    await installer.install(dirs, 'project');
    await place.write(
      'dev/.gemini/trusted_hooks.json',
      JSON.stringify({ [place.project]: ['wa-sync-BeforeAgent:a'] }, null, 2),
    );
    await installer.uninstall(dirs, 'project');
    expect(Object.keys(await place.snapshot())).toEqual([...before, 'dev/.gemini'].sort());
  });
});

describe('several installations', () => {
  it('share one launcher until the last one is removed', async () => {
    const other = { ...dirs, projectDir: join(place.home, 'other') };
    await mkdir(other.projectDir);
    const before = await place.snapshot();
    for (const [at, scope] of [
      [dirs, 'user'],
      [dirs, 'project'],
      [other, 'project'],
    ] as const)
      await installer.install(at, scope);
    expect((await installer.list(dirs)).map(({ place: at }) => at)).toEqual([
      join(place.home, '.gemini', 'extensions', 'wa-sync'),
      settings(),
      join(other.projectDir, '.gemini', 'settings.json'),
    ]);
    await installer.uninstall(dirs, 'user');
    await installer.uninstall(dirs, 'project');
    expect((await installer.list(other))[1]).toMatchObject({ installed: true, launcherExists: true });
    expect(await installer.uninstall(dirs, undefined)).toEqual([join(other.projectDir, '.gemini', 'settings.json')]);
    expect(await place.snapshot()).toEqual(before);
  });

  it('forget a project that was deleted', async () => {
    const other = { ...dirs, projectDir: join(place.home, 'other') };
    await mkdir(other.projectDir);
    const before = await place.snapshot();
    await installer.install(other, 'project');
    await rm(join(other.projectDir, '.gemini'), { recursive: true });
    expect(await installer.uninstall(dirs, undefined)).toEqual([]);
    expect(await place.snapshot()).toEqual(before);
  });
});
