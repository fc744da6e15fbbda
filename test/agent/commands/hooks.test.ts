import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hooksCommand, installedTroubles } from '../../../agent/commands/hooks.ts';
import type { InstallDirs } from '../../../agent/drivers/driver.ts';
import { listHooks } from '../../../agent/drivers/gemini/install.ts';
import type { TemporaryHome } from '../../helpers/home.ts';
import { eachInstallation, projectSettings } from '../../helpers/installation.ts';
import { noProgress } from '../../helpers/surroundings.ts';

let place: TemporaryHome;
let dirs: InstallDirs;
eachInstallation((ground) => {
  ({ place, dirs } = ground);
});

const settings = () => projectSettings(dirs);

describe('wa-sync hooks', () => {
  const run = async (args: Parameters<typeof hooksCommand>[0]) => {
    const lines: string[] = [];
    await hooksCommand(args, { dirs, out: (line) => lines.push(line) });
    return lines;
  };

  it('installs the extension by default, lists the extension and removes the extension', async () => {
    const entry = join(place.home, '.gemini', 'extensions', 'wa-sync');
    expect(await run({ action: 'install' })).toEqual([
      `installed  ${entry}`,
      'Gemini CLI reads its hooks at start: restart a session that is open.',
    ]);
    expect(await run({ action: 'install' })).toEqual([`already installed  ${entry}`]);
    expect(await run({ action: 'list', agent: 'gemini' })).toEqual([
      `gemini  user     0.1.0  ${entry}`,
      `gemini  project  not installed  ${settings()}`,
    ]);
    expect(await run({ action: 'uninstall' })).toEqual([`removed  ${entry}`]);
    expect(await run({ action: 'uninstall' })).toEqual(['nothing was installed']);
  });

  it('prints one JSON value with --json', async () => {
    await run({ action: 'install', scope: 'project' });
    const lines = await run({ action: 'list', json: true });
    expect(JSON.parse(lines.join('\n'))).toEqual(JSON.parse(JSON.stringify(await listHooks(dirs))));
    expect(await run({ action: 'uninstall', json: true })).toEqual([JSON.stringify({ removed: [settings()] })]);
  });

  it('names in the list the command that repairs the hooks', async () => {
    await run({ action: 'install', scope: 'project' });
    await rm(join(dirs.dataDir, 'hooks', '0.1.0'), { recursive: true });
    expect((await run({ action: 'list' })).at(-1)).toContain(
      'run `wa-sync hooks install --agent gemini --scope project`',
    );
  });

  it('says in the list that hooks of another form, or of other directories, must be installed anew', async () => {
    await run({ action: 'install', scope: 'project' });
    const installed = await readFile(settings(), 'utf8');
    await writeFile(settings(), installed.replaceAll(/( gemini \w+ \d+) [^"]*/g, '$1'));
    expect((await run({ action: 'list' })).at(-1)).toMatch(
      /not what this version installs: run `wa-sync hooks install --agent gemini --scope project`$/,
    );
    await writeFile(settings(), installed.replaceAll(String(dirs.directories[0]), '/elsewhere'));
    expect((await run({ action: 'list' })).at(-1)).toContain('installed for other directories (/elsewhere, ');
    await run({ action: 'install', scope: 'project' });
    expect((await run({ action: 'list' })).at(-1)).not.toContain('run `');
  });

  it('are named by other commands when they are of another form, or serve no directory that is asked for', async () => {
    const context = (env: Record<string, string>) => ({
      env,
      platform: dirs.platform,
      home: place.home,
      cwd: dirs.projectDir,
      distDir: dirs.packageDir,
      loadConfig: () => {
        throw new Error('not needed');
      },
      out: () => {},
      note: () => {},
      progress: noProgress,
    });
    const asInstalled = { WA_RUNTIME_DIR: 'run', WA_CONFIG_DIR: 'config', WA_STATE_DIR: 'state' };
    const env = Object.fromEntries(Object.entries(asInstalled).map(([key, name]) => [key, join(place.root, name)]));
    expect(await installedTroubles(context(env))).toEqual([]);
    await run({ action: 'install', scope: 'project' });
    expect((await installedTroubles(context(env))).join()).not.toContain('directories');
    expect((await installedTroubles(context({}))).join()).toContain(`${settings()}: installed for other directories (`);
    const installed = await readFile(settings(), 'utf8');
    await writeFile(settings(), installed.replaceAll(/( gemini \w+ \d+) [^"]*/g, '$1'));
    expect((await installedTroubles(context(env))).join()).toContain(`${settings()}: not what this version`);
  });

  it('refuses a project for the scope user, which is for all projects', async () => {
    await expect(run({ action: 'install', project: dirs.projectDir })).rejects.toMatchObject({
      code: 'bad_arguments',
      hint: expect.stringContaining('hooks install --scope project --project'),
    });
    expect((await listHooks(dirs)).some(({ installed }) => installed)).toBe(false);
  });

  it('refuses an agent whose hooks cannot be installed', async () => {
    await expect(run({ action: 'install', agent: 'other' })).rejects.toMatchObject({ code: 'bad_arguments' });
  });
});
