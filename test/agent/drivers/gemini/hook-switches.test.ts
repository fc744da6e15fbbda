// The settings that keep Gemini CLI from running the hooks of wa-sync in a project.

import { spawnSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hookSwitches } from '../../../../agent/drivers/gemini/hook-switches.ts';
import { type TemporaryHome, temporaryHome } from '../../../helpers/home.ts';

let place: TemporaryHome;
beforeEach(async () => {
  place = await temporaryHome();
});
afterEach(() => place.close());

async function write(name: string, text: string, below = place.project): Promise<string> {
  const path = join(below, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}
const look = () => hookSwitches(place.project, place.home);

it('a project without settings, or with settings that do not touch the hooks of wa-sync, gives no sentence', async () => {
  expect(await look()).toEqual([]);
  await write(
    '.gemini/settings.json',
    '{"hooksConfig":{"enabled":true,"disabled":["lint"],"notifications":false},"x":1}',
  );
  await write('.env', 'NODE_OPTIONS=--max-old-space-size=4096\nBUILD_PATH=x\n# LD_PRELOAD=x\n');
  expect(await look()).toEqual([]);
});

it.each([
  ['{"hooksConfig":{"enabled":false}}', 'switches all hooks off (hooksConfig.enabled)'],
  ['// a "comment\n{"hooks\\u0043onfig":/* } */{"enabled":false}}', 'switches all hooks off (hooksConfig.enabled)'],
  [
    '{"hooksConfig":{"disabled":["wa-sync-BeforeTool","lint"]}}',
    'switches hooks of wa-sync off (hooksConfig.disabled: wa-sync-BeforeTool)',
  ],
])('settings that switch hooks off are named: %s', async (text, what) => {
  const path = await write('.gemini/settings.json', text);
  expect(await look()).toEqual([`${path} ${what}`]);
});

it('settings in the home folder are named too', async () => {
  const path = await write('.gemini/settings.json', '{"hooksConfig":{"enabled":false}}', place.home);
  expect(await look()).toEqual([`${path} switches all hooks off (hooksConfig.enabled)`]);
});

it('variables that act before a hook are named', async () => {
  const path = await write('.gemini/.env', 'A=1\nexport BASH_ENV=./x.sh\nLD_PRELOAD: ./x.so\n');
  expect(await look()).toEqual([`${path} sets BASH_ENV, LD_PRELOAD, which act before a hook does`]);
});

it('a link, a pipe and a file above the size limit are named and never read', async () => {
  await mkdir(join(place.project, '.gemini'));
  await symlink('/dev/zero', join(place.project, '.gemini', 'settings.json'));
  spawnSync('mkfifo', [join(place.project, '.env')]);
  const large = await write('.gemini/.env', ' '.repeat(2 * 1024 * 1024));
  expect((await look()).sort()).toEqual([
    `${join(place.project, '.env')} cannot be read: a link, or not an ordinary file that you may read`,
    `${large} is too large to be read`,
    `${join(place.project, '.gemini', 'settings.json')} cannot be read: a link, or not an ordinary file that you may read`,
  ]);
});

it('a file of quotes, backslashes and open comments of a megabyte is read in one pass', async () => {
  for (const piece of ['"', '\\"', '/*', '"\\', '//', '/*"\\']) {
    await write('.gemini/settings.json', `{"${piece.repeat((1024 * 1024) / piece.length - 10)}`);
    expect(await look()).toEqual([]);
  }
});
