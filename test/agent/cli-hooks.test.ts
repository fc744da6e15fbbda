// What the command line itself adds to `wa-sync hooks` and `uninstall`: what options mean when they are left away, and what is deleted.

import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isDown } from '../../agent/fs/down.ts';
import { type TemporaryHome, temporaryHome } from '../helpers/home.ts';

const cli = fileURLToPath(new URL('../../agent/cli.ts', import.meta.url));
let home: TemporaryHome;

beforeEach(async () => {
  home = await temporaryHome();
});

afterEach(() => home.close());

async function wa(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [cli, ...args], {
    cwd: home.project,
    env: { PATH: process.env.PATH, HOME: home.home },
  });
  return stdout;
}

test('uninstall without a scope removes every place where the hooks were installed', async () => {
  const before = await home.snapshot();
  await wa('hooks', 'install');
  await wa('hooks', 'install', '--scope', 'project');
  expect(await wa('hooks', 'uninstall')).toBe(
    [
      `gemini  removed  ${home.home}/.gemini/extensions/wa-sync`,
      `gemini  removed  ${home.project}/.gemini/settings.json`,
      'claude  nothing was installed',
      'codex  nothing was installed',
      '',
    ].join('\n'),
  );
  expect(await home.snapshot()).toEqual(before);
});

test('--json is one array, over all agents unless one is named', async () => {
  await wa('hooks', 'install', '--agent', 'all');
  const listed: { agent: string; scope: string; installed: boolean }[] = JSON.parse(
    await wa('hooks', 'list', '--json'),
  );
  expect(listed.filter(({ installed }) => installed).map(({ agent, scope }) => `${agent} ${scope}`)).toEqual([
    'gemini user',
    'claude user',
    'codex user',
  ]);
  const one: { agent: string }[] = JSON.parse(await wa('hooks', 'list', '--agent', 'codex', '--json'));
  expect(new Set(one.map(({ agent }) => agent))).toEqual(new Set(['codex']));
  const removed: { agent: string; removed: string[] }[] = JSON.parse(await wa('hooks', 'uninstall', '--json'));
  expect(removed.map(({ agent, removed: places }) => [agent, places.length])).toEqual([
    ['gemini', 1],
    ['claude', 1],
    ['codex', 1],
  ]);
});

test('an agent that fails does not keep the others from being done, and its error is the end', async () => {
  await mkdir(join(home.home, '.claude'));
  await writeFile(join(home.home, '.claude', 'settings.json'), '{ "hooks": [not json');
  await expect(wa('hooks', 'install', '--agent', 'all')).rejects.toMatchObject({
    stdout: expect.stringMatching(/^gemini {2}installed {2}.*\n(?:.*\n)?codex {2}installed {2}/),
    stderr: expect.stringMatching(/settings\.json.*\(settings_unreadable\)/),
  });
});

test('install without a scope installs the extension and leaves the project alone', async () => {
  expect(await wa('hooks', 'install')).toContain(`installed  ${home.home}/.gemini/extensions/wa-sync\n`);
  expect(Object.keys(await home.snapshot()).filter((path) => path.startsWith('dev/project/'))).toEqual([]);
});

test('an unknown scope is refused with the names of the known ones', async () => {
  await expect(wa('hooks', 'install', '--scope', 'everywhere')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/--scope must be one of user, project, not "everywhere"/),
  });
});

test('uninstall deletes the directories of wa-sync, the one for sockets within them too, and leaves none to the person', async () => {
  await wa('hooks', 'install');
  const said = await wa('uninstall', '--purge');
  expect(said).toContain(`deleted ${home.home}/.config/wa-sync, ${home.home}/.local/state/wa-sync`);
  expect(said).not.toContain('Delete it yourself');
});

test('uninstall where nothing is installed writes nothing; where hooks were, they start no daemon any more', async () => {
  const before = await home.snapshot();
  const said = await wa('uninstall', '--yes');
  expect(said).toContain('did not run');
  expect(said).not.toContain('Kept');
  expect(await home.snapshot()).toEqual(before);
  await wa('hooks', 'install');
  await wa('uninstall', '--yes');
  expect(await isDown(join(home.home, '.local', 'state', 'wa-sync'))).toBe(true);
});
