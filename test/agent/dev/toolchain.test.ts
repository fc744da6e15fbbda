// Where the embedded relay's Node and Miniflare come from. npm is replaced by a function that puts files in place.

import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findToolchain, nodePackage, toolchainVersions } from '../../../agent/dev/toolchain.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import lock from '../../../package-lock.json' with { type: 'json' };
import nodes from '../../../scripts/node/package.json' with { type: 'json' };

const old = { version: '20.18.1', execPath: '/opt/node20/bin/node' };
const recent = { version: '22.23.2', execPath: '/opt/node22/bin/node' };
const { miniflare, node } = toolchainVersions;
const locked = lock.packages as Record<string, { integrity?: string; hasInstallScript?: boolean; link?: boolean }>;

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
    expect(packageJson.devDependencies.miniflare).toBe(miniflare);
    expect(new Set(Object.values(nodes.optionalDependencies))).toEqual(new Set([node]));
  });

  it('has a Node for each platform, with a checksum and without an install script', () => {
    const platforms = ['linux', 'darwin', 'win32'].flatMap((os) => ['x64', 'arm64'].map((cpu) => nodePackage(os, cpu)));
    expect(Object.keys(nodes.optionalDependencies).sort()).toEqual(platforms.sort());
    for (const name of platforms) {
      expect(locked[`node_modules/${name}`]).toMatchObject({ integrity: expect.stringMatching(/^sha512-/) });
      expect(locked[`node_modules/${name}`]).not.toHaveProperty('hasInstallScript');
    }
  });

  it('is pinned with a checksum in all its packages', () => {
    const without = Object.entries(locked)
      .filter(([path, { integrity, link }]) => path.startsWith('node_modules/') && !link && integrity === undefined)
      .map(([path]) => path);
    expect(without).toEqual([]);
  });

  it('is taken from the repository silently', async () => {
    const found = await findToolchain({ cacheDir: join(dir, 'cache'), say: (line) => said.push(line), current: old });
    expect([found.node.includes(join('node_modules', nodePackage(), 'bin')), said]).toEqual([true, []]);
  });

  it('is installed once into the cache, with a Node when the current one is too old, and says so', async () => {
    const home = join(dir, 'cache', `embedded-${miniflare}`);
    const binary = process.platform === 'win32' ? 'node.exe' : 'node';
    const expected = {
      node: join(home, 'node_modules', nodePackage(), 'bin', binary),
      miniflare: join(home, 'node_modules', 'miniflare', 'index.js'),
    };
    expect(await find(old)).toEqual(expected);
    expect(await find(old)).toEqual(expected);
    expect(await find(recent)).toEqual({ ...expected, node: recent.execPath });
    expect(installed).toEqual([[`miniflare@${miniflare}`, `${nodePackage()}@${node}`]]);
    expect(said).toEqual([
      `The embedded relay needs miniflare@${miniflare} and ${nodePackage()}@${node}: installing into ${home}, once.`,
    ]);
    expect(await readdir(join(dir, 'cache'))).toEqual([`embedded-${miniflare}`]);
  });

  it('leaves no incomplete installation and names the repair when the installation fails', async () => {
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
