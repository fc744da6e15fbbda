// What Claude Code would run as hooks of wa-sync, and which settings keep it from that.

import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { claude } from '../../../../agent/drivers/claude/driver.ts';
import { hookSwitches } from '../../../../agent/drivers/claude/hook-switches.ts';
import { inspectHooks } from '../../../../agent/drivers/claude/inspect.ts';
import { installer } from '../../../../agent/drivers/claude/install.ts';
import { claudeWorkstation } from '../../../../agent/drivers/claude/workstation.ts';
import type { InstallDirs } from '../../../../agent/drivers/workstation.ts';
import type { TemporaryHome } from '../../../helpers/home.ts';
import { eachInstallation } from '../../../helpers/installation.ts';

let place: TemporaryHome;
let dirs: InstallDirs;
eachInstallation((ground) => {
  ({ place, dirs } = ground);
});

const own = () => join(place.home, '.claude', 'settings.json');
const ofProject = (name = 'settings.local.json') => join(place.project, '.claude', name);
const faults = async () => (await inspectHooks(dirs, [dirs.projectDir])).faults.map(({ state, what }) => [state, what]);

describe('an inspection', () => {
  it('finds no fault in a whole installation, and its canary is a hook that changes nothing', async () => {
    expect(await inspectHooks(dirs, [dirs.projectDir])).toMatchObject({ faults: [], canary: undefined });
    await installer.install(dirs, 'user');
    const { statuses, faults: found, canary } = await inspectHooks(dirs, [dirs.projectDir]);
    expect([found, statuses.map(({ scope, installed }) => [scope, installed])]).toEqual([
      [],
      [
        ['user', true],
        ['project', false],
      ],
    ]);
    expect(canary).toMatchObject({ event: 'Notification', program: 'sh' });
    const call = claude.readCall('Notification', JSON.parse(canary?.payload('s', '/p') ?? ''));
    expect(call).toMatchObject({ session: 's', cwd: '/p', event: { type: 'other' } });
  });

  it('has no canary where the hooks serve other directories', async () => {
    await installer.install({ ...dirs, directories: ['/elsewhere'] }, 'user');
    expect((await inspectHooks(dirs, [])).canary).toBeUndefined();
  });

  it('names a time in another unit, which would end a wait for a person at once, and what repairs it', async () => {
    await installer.install(dirs, 'project');
    const text = await readFile(ofProject(), 'utf8');
    await writeFile(ofProject(), text.replace('"timeout": 86400', '"timeout": 86'));
    expect((await inspectHooks(dirs, [dirs.projectDir])).faults).toEqual([
      {
        state: 'fail',
        what: `${ofProject()} gives the hook for PreToolUse a timeout of 86; it is 86400, in seconds`,
        repair: 'Run `wa-sync hooks install --agent claude --scope project`.',
        reinstall: { scope: 'project', projectDir: dirs.projectDir },
      },
    ]);
  });

  it('names hooks that stand twice, and a file that is no JSON', async () => {
    await installer.install(dirs, 'user');
    await installer.install(dirs, 'project');
    expect(await faults()).toEqual([['warn', `hooks of wa-sync are installed twice: ${own()} and ${ofProject()}`]]);
    await writeFile(own(), '{');
    expect(await faults()).toEqual([['fail', `${own()} is not JSON, so Claude Code leaves all of its settings out`]]);
  });
});

describe('a setting that switches the hooks off', () => {
  const off = '{"disableAllHooks":true}';

  it.each([
    ['the user', () => own()],
    ['a project', () => ofProject('settings.json')],
    ['a person in a project', () => ofProject()],
  ])('is found in the settings of %s, by doctor and by the daemon', async (_, fileOf) => {
    const file = fileOf();
    await mkdir(join(file, '..'), { recursive: true });
    await writeFile(file, off);
    const what = `${file} switches all hooks off (disableAllHooks)`;
    expect(await faults()).toEqual([['fail', what]]);
    expect(await claudeWorkstation.verify(dirs.projectDir, dirs.home)).toEqual([what]);
  });

  it('is found in the folder of CLAUDE_CONFIG_DIR', async () => {
    const moved = join(place.home, 'elsewhere');
    await place.write('dev/elsewhere/settings.json', off);
    const { faults: found } = await inspectHooks({ ...dirs, env: { CLAUDE_CONFIG_DIR: moved } }, [dirs.projectDir]);
    expect(found).toMatchObject([{ what: `${join(moved, 'settings.json')} switches all hooks off (disableAllHooks)` }]);
  });

  it('is found in managed settings, and allowManagedHooksOnly counts only there', async () => {
    const managed = join(place.root, 'managed');
    const main = await place.write('managed/managed-settings.json', '{"allowManagedHooksOnly":true}');
    const more = await place.write('managed/managed-settings.d/10-hooks.json', off);
    await place.write('managed/managed-settings.d/notes.txt', off);
    await place.write('dev/.claude/settings.json', '{"allowManagedHooksOnly":true}');
    expect(await hookSwitches(dirs.projectDir, own(), managed)).toEqual([
      `${main} allows managed hooks only (allowManagedHooksOnly)`,
      `${more} switches all hooks off (disableAllHooks)`,
    ]);
  });

  it('is a variable too that acts in the shell of a hook before its first line', async () => {
    await place.write('dev/project/.claude/settings.json', '{"env":{"BASH_ENV":"/x","LD_PRELOAD":"/y","EDITOR":"vi"}}');
    expect(await hookSwitches(dirs.projectDir, own())).toEqual([
      `${ofProject('settings.json')} sets BASH_ENV, LD_PRELOAD, which act before a hook does`,
    ]);
  });

  it('may stand behind a link that a project planted, or in a file too large to read: the file is named', async () => {
    await mkdir(join(place.project, '.claude'));
    await symlink(await place.write('dev/other.json', off), ofProject('settings.json'));
    await writeFile(ofProject(), ' '.repeat(2 * 1024 * 1024));
    expect(await hookSwitches(dirs.projectDir, own())).toEqual([
      `${ofProject('settings.json')} cannot be read: a link, or not an ordinary file that you may read`,
      `${ofProject()} is too large to be read`,
    ]);
  });
});
