import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hooksCommand, installDirs, installedTroubles } from '../../../agent/commands/hooks.ts';
import { installer } from '../../../agent/drivers/gemini/install.ts';
import type { InstallDirs } from '../../../agent/drivers/workstation.ts';
import { removeCopies } from '../../../agent/service/package-copy.ts';
import type { TemporaryHome } from '../../helpers/home.ts';
import { eachInstallation, projectSettings } from '../../helpers/installation.ts';
import { noProgress } from '../../helpers/surroundings.ts';

let place: TemporaryHome;
let dirs: InstallDirs;
eachInstallation((ground) => {
  ({ place, dirs } = ground);
});

const settings = () => projectSettings(dirs);
const outside = (env: Record<string, string>) => ({
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

describe('wa-sync hooks', () => {
  const run = async (args: Parameters<typeof hooksCommand>[0]) => {
    const { value, lines } = await hooksCommand(args, dirs);
    return args.json ? [JSON.stringify(value)] : lines;
  };

  it('installs the extension by default, lists the extension and removes the extension', async () => {
    const entry = join(place.home, '.gemini', 'extensions', 'wa-sync');
    expect(await run({ action: 'install' })).toEqual([
      `gemini  installed  ${entry}`,
      'Gemini CLI reads its hooks at start: restart a session that is open.',
    ]);
    expect(await run({ action: 'install' })).toEqual([`gemini  already installed  ${entry}`]);
    expect(await run({ action: 'list', agent: 'gemini' })).toEqual([
      `gemini  user     0.1.0  ${entry}`,
      `gemini  project  not installed  ${settings()}`,
    ]);
    expect(await run({ action: 'uninstall' })).toEqual([`gemini  removed  ${entry}`]);
    expect(await run({ action: 'uninstall' })).toEqual(['gemini  nothing was installed']);
  });

  it('prints one JSON value with --json', async () => {
    await run({ action: 'install', scope: 'project' });
    const lines = await run({ action: 'list', json: true });
    expect(JSON.parse(lines.join('\n'))).toEqual(JSON.parse(JSON.stringify(await installer.list(dirs))));
    expect(await run({ action: 'uninstall', json: true })).toEqual([
      JSON.stringify({ agent: 'gemini', removed: [settings()] }),
    ]);
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
    const asInstalled = { WA_RUNTIME_DIR: 'run', WA_CONFIG_DIR: 'config', WA_STATE_DIR: 'state' };
    const env = Object.fromEntries(Object.entries(asInstalled).map(([key, name]) => [key, join(place.root, name)]));
    expect(await installedTroubles(outside(env))).toEqual([]);
    await run({ action: 'install', scope: 'project' });
    expect((await installedTroubles(outside(env))).join()).not.toContain('directories');
    expect((await installedTroubles(outside({}))).join()).toContain(`${settings()}: installed for other directories (`);
    const installed = await readFile(settings(), 'utf8');
    await writeFile(settings(), installed.replaceAll(/( gemini \w+ \d+) [^"]*/g, '$1'));
    expect((await installedTroubles(outside(env))).join()).toContain(`${settings()}: not what this version`);
  });

  it('record for a package in the npx cache its copy, which outlives that cache', async () => {
    const npx = join(place.root, '_npx', 'a1b2c3', 'node_modules', 'wa-sync');
    await cp(dirs.packageDir, join(npx, 'dist'), { recursive: true });
    for (const name of ['dist/wa-sync.js', 'package.json']) await writeFile(join(npx, name), '{}\n');
    const context = { ...outside({ XDG_DATA_HOME: join(place.home, '.local', 'share') }), distDir: join(npx, 'dist') };
    expect(await readdir(join(dirs.dataDir, 'app')).catch(() => [])).toEqual([]);
    const looked = await installDirs(context);
    const made = await installDirs(context, undefined, { makes: true });
    expect(looked).toEqual(made);
    await rm(join(place.root, '_npx'), { recursive: true });
    await hooksCommand({ action: 'install' }, made);
    const start = JSON.parse(await readFile(join(dirs.dataDir, 'hooks', made.version, 'start.json'), 'utf8'));
    expect(dirname(dirname(dirname(start.program)))).toBe(join(dirs.dataDir, 'app'));
    expect(await readFile(start.program, 'utf8')).toBe('{}\n');
    const installed = Object.entries(await place.snapshot()).filter(([, content]) => content.includes('wa-sync.js'));
    expect(installed.map(([, content]) => content.includes(start.program))).toEqual([true, true]);
    // A service that goes, or starts another version, leaves the copy of the hooks.
    await removeCopies(dirs.dataDir);
    expect(await readFile(start.program, 'utf8')).toBe('{}\n');
    await hooksCommand({ action: 'uninstall' }, made);
    await removeCopies(dirs.dataDir);
    expect(await readdir(dirs.dataDir).catch(() => [])).not.toContain('app');
  });

  it('refuses a project for the scope user, which is for all projects', async () => {
    await expect(run({ action: 'install', project: dirs.projectDir })).rejects.toMatchObject({
      code: 'bad_arguments',
      hint: expect.stringContaining('hooks install --scope project --project'),
    });
    expect((await installer.list(dirs)).some(({ installed }) => installed)).toBe(false);
  });

  it('refuses an agent whose hooks cannot be installed', async () => {
    await expect(run({ action: 'install', agent: 'other' })).rejects.toMatchObject({ code: 'bad_arguments' });
  });
});
