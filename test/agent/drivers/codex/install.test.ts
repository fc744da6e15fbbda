// The hooks of wa-sync in Codex's own file: one line for all versions, nothing else touched, no trust taken, no trace left.

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { codexWorkstation } from '../../../../agent/drivers/codex/workstation.ts';
import type { InstallDirs } from '../../../../agent/drivers/workstation.ts';
import { temporaryFolder } from '../../../helpers/surroundings.ts';

const { installer, inspect } = codexWorkstation;

async function dirsOf(version: string, root: string): Promise<InstallDirs> {
  const packageDir = join(root, `package-${version}`);
  await mkdir(packageDir, { recursive: true });
  for (const name of ['wa-hook', 'client.pl', 'wa-hook-fallback.cjs', 'wa-hook-codex.cjs', 'wa-sync.js'])
    await writeFile(join(packageDir, name), `${name} of ${version}`);
  const home = join(root, 'home');
  await mkdir(join(home, '.codex'), { recursive: true });
  const directories = ['/run', '/config', '/state'];
  return { home, dataDir: join(root, 'data'), projectDir: home, packageDir, version, platform: 'linux', directories };
}

const own = '{\n  "hooks": { "Stop": [ { "hooks": [ { "type": "command", "command": "mine" } ] } ] }\n}\n';

it('keeps what is there, installs the same line for every version, and leaves no trace', async () => {
  const root = await temporaryFolder();
  const dirs = await dirsOf('1.0.0', root);
  const file = join(dirs.home, '.codex', 'hooks.json');
  await writeFile(file, own);
  const status = await installer.install(dirs, 'user');
  expect(status).toMatchObject({ place: file, version: '1.0.0', current: true, servesThese: true });
  const installed = await readFile(file, 'utf8');
  expect(installed).toContain('"mine"');
  expect(JSON.parse(installed).hooks.SessionEnd[0].hooks[0].timeout).toBe(3);
  expect(await installer.install(dirs, 'user')).toEqual(status);
  const newer = await dirsOf('2.0.0', root);
  expect((await installer.list(newer))[0]).toMatchObject({ installed: true, current: false });
  expect(await installer.install(newer, 'user')).toMatchObject({ version: '2.0.0', current: true });
  expect(await readFile(file, 'utf8')).toBe(installed);
  expect(await readFile(join(newer.dataDir, 'hooks-codex', 'launcher', 'wa-hook'), 'utf8')).toBe('wa-hook of 2.0.0');
  expect(await installer.uninstall(newer, undefined)).toEqual([file]);
  expect(await readFile(file, 'utf8')).toBe(own);
  expect(await readdir(root)).not.toContain('data');
});

it('names the hooks that nobody has trusted, and forgets the trust with them', async () => {
  const root = await temporaryFolder();
  const dirs = await dirsOf('1.0.0', root);
  const config = join(dirs.home, '.codex', 'config.toml');
  const file = join(dirs.home, '.codex', 'hooks.json');
  await writeFile(config, 'model = "x"\n');
  await installer.install(dirs, 'user');
  const faults = async () => (await inspect(dirs, [], {})).faults.map(({ what }) => what);
  expect(await faults()).toEqual([`${file}: nobody has trusted 9 of 9 hooks of wa-sync, so Codex skips them`]);
  // As `wa-sync hooks list` says it.
  expect(await codexWorkstation.verify(dirs.projectDir, dirs.home)).toEqual([
    `${file}: nobody has trusted 9 of 9 hooks of wa-sync, so Codex skips them (start \`codex\` there, type /hooks, and trust and switch on the hooks of wa-sync)`,
  ]);
  expect(await readFile(config, 'utf8')).toBe('model = "x"\n');
  const events = ['session_start', 'user_prompt_submit', 'pre_tool_use', 'permission_request', 'post_tool_use'];
  const all = [...events, 'pre_compact', 'stop', 'interrupt', 'session_end'];
  const trusted = all.map((event) => `[hooks.state."${file}:${event}:0:0"]\ntrusted_hash = "sha256:00"\n`).join('\n');
  await writeFile(config, `model = "x"\n${trusted}[tui]\nx = 1\n`);
  expect(await faults()).toEqual([]);
  await writeFile(config, `model = "x"\n${trusted.replace('\n', '\nenabled = false\n')}[tui]\nx = 1\n`);
  expect(await faults()).toEqual([expect.stringContaining('nobody has trusted 1 of 9 hooks')]);
  await installer.uninstall(dirs, 'user');
  expect(await readFile(config, 'utf8')).toBe('model = "x"\n[tui]\nx = 1\n');
});

it('the trust of a working tree counts for its folders, that of any other folder above does not', async () => {
  const root = await temporaryFolder();
  const dirs = { ...(await dirsOf('1.0.0', root)), projectDir: join(root, 'tree', 'part') };
  await mkdir(dirs.projectDir, { recursive: true });
  await installer.install(dirs, 'project');
  await writeFile(join(dirs.home, '.codex', 'config.toml'), `[projects."${root}/tree"]\ntrust_level = "trusted"\n`);
  const isUntrusted = async () =>
    (await inspect(dirs, [dirs.projectDir], {})).faults.some(({ what }) => what.includes('is no trusted folder'));
  expect(await isUntrusted()).toBe(true);
  for (const folder of ['objects', 'refs']) await mkdir(join(root, 'tree', '.git', folder), { recursive: true });
  await writeFile(join(root, 'tree', '.git', 'HEAD'), 'ref: refs/heads/main\n');
  expect(await isUntrusted()).toBe(false);
});
