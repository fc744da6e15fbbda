// The command line's own part of `wa-sync hooks`: what its options mean when they are left away.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
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
    `removed  ${home.home}/.gemini/extensions/wa-sync\nremoved  ${home.project}/.gemini/settings.json\n`,
  );
  expect(await home.snapshot()).toEqual(before);
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
