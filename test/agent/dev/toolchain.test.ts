// Where the embedded relay's Node and Miniflare come from. npm is replaced by a function that puts files in place.

import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findToolchain, toolchainVersions } from '../../../agent/dev/toolchain.ts';
import packageJson from '../../../package.json' with { type: 'json' };

const old = { version: '20.18.1', execPath: '/opt/node20/bin/node' };
const recent = { version: '22.23.2', execPath: '/opt/node22/bin/node' };
const { miniflare, node } = toolchainVersions;

let dir: string;
let said: string[];
let installed: string[][];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'wa-toolchain-'));
  said = [];
  installed = [];
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function fakeInstall(target: string, packages: string[]): Promise<void> {
  installed.push(packages);
  for (const name of packages.map((spec) => spec.slice(0, spec.lastIndexOf('@')))) {
    const home = join(target, 'node_modules', name);
    await mkdir(join(home, 'bin'), { recursive: true });
    await writeFile(join(home, 'package.json'), JSON.stringify({ name, main: 'index.js' }));
    await writeFile(join(home, 'index.js'), '');
    await writeFile(join(home, 'bin', process.platform === 'win32' ? 'node.exe' : 'node'), '');
  }
}

const find = (current: typeof old, install = fakeInstall, from = join(dir, 'package', 'main.js')) =>
  findToolchain({ cacheDir: join(dir, 'cache'), say: (line) => said.push(line), current, from, install });

describe('the tool chain of the embedded relay', () => {
  it('has the versions of package.json', () => {
    const { miniflare: inPackage, node: nodeInPackage } = packageJson.devDependencies;
    expect(toolchainVersions).toEqual({ miniflare: inPackage, node: nodeInPackage });
  });

  it('is taken from the repository without a word', async () => {
    const found = await findToolchain({ cacheDir: join(dir, 'cache'), say: (line) => said.push(line), current: old });
    expect([found.node.includes(join('node_modules', 'node', 'bin')), said]).toEqual([true, []]);
  });

  it('is installed once into the cache, with a Node when the current one is too old, and says so', async () => {
    const home = join(dir, 'cache', `embedded-${miniflare}`);
    const binary = process.platform === 'win32' ? 'node.exe' : 'node';
    const expected = {
      node: join(home, 'node_modules', 'node', 'bin', binary),
      miniflare: join(home, 'node_modules', 'miniflare', 'index.js'),
    };
    expect(await find(old)).toEqual(expected);
    expect(await find(old)).toEqual(expected);
    expect(await find(recent)).toEqual({ ...expected, node: recent.execPath });
    expect(installed).toEqual([[`miniflare@${miniflare}`, `node@${node}`]]);
    expect(said).toEqual([
      `The embedded relay needs miniflare@${miniflare} and node@${node}: installing into ${home}, once.`,
    ]);
    expect(await readdir(join(dir, 'cache'))).toEqual([`embedded-${miniflare}`]);
  });

  it('leaves nothing half installed and names the repair when the installation fails', async () => {
    const failing = async (target: string) => {
      await writeFile(join(target, 'half'), '');
      throw new Error('no network');
    };
    await expect(find(recent, failing)).rejects.toThrow('no network');
    expect(await readdir(join(dir, 'cache'))).toEqual([]);
    const withoutScripts = (target: string, packages: string[]) =>
      fakeInstall(
        target,
        packages.filter((name) => name.startsWith('miniflare')),
      );
    await expect(find(old, withoutScripts)).rejects.toMatchObject({ code: 'needs_node_22' });
  });
});
