// What the package says about the code of others in it.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bundledFolders, readPackage, thirdPartyLicences } from '../scripts/licences.ts';

const dist = join(import.meta.dirname, '..', 'dist');
const metafiles = ['wa-sync', 'wa-hook-fallback', 'worker'].map(
  (name) => JSON.parse(readFileSync(join(dist, `${name}.meta.json`), 'utf8')) as Metafile,
);

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'wa-licences-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A package that nobody has published, and its folder. */
function madeUp(license: unknown, files: Record<string, string> = { LICENSE: 'Do as you please.\n' }): string {
  const folder = join(root, 'node_modules', '@made-up', 'part');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: '@made-up/part', version: '1.2.3', license }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

describe('the licences of bundled packages', () => {
  it('stand in the package with name, version and text, one section for each bundled package', () => {
    const text = readFileSync(join(dist, 'THIRD_PARTY_LICENSES'), 'utf8');
    const packages = bundledFolders(metafiles).map((folder) => readPackage(join(dist, '..', folder)));
    expect(packages.map(({ name }) => name)).toEqual(expect.arrayContaining(['undici', 'commander', 'valibot', 'zod']));
    for (const each of packages) {
      expect(text).toContain(`\n${each.name} ${each.version} (${each.licence})\n\n${each.text}\n`);
    }
    expect(text.match(/^-{80}$/gm)).toHaveLength(packages.length);
  });

  it('are found by what is in the output, also below the folder of another package', () => {
    const output = (inputs: string[]) => ({
      imports: [],
      exports: [],
      bytes: 1,
      inputs: Object.fromEntries(inputs.map((path, at) => [path, { bytesInOutput: at }])),
    });
    const inputs = ['node_modules/dropped/a.js', 'node_modules/a/b.js', 'node_modules/a/node_modules/@b/c/d/e.js'];
    expect(bundledFolders([{ outputs: { 'dist/x.js': output([...inputs, 'agent/cli.ts']) } }])).toEqual([
      'node_modules/a',
      'node_modules/a/node_modules/@b/c',
    ]);
  });

  it.each(['MIT', 'CC0-1.0', '(GPL-3.0 OR MIT)'])('may be %s', (license) => {
    expect(thirdPartyLicences([readPackage(madeUp(license))])).toContain('@made-up/part 1.2.3');
  });

  it.each([
    'GPL-3.0',
    'MIT AND GPL-3.0',
    '((MIT OR ISC) AND GPL-3.0)',
    'SEE LICENSE IN LICENSE',
    'none',
    undefined,
    { type: 'MIT' },
  ])('stop the build when they are %j', (license) => {
    expect(() => thirdPartyLicences([readPackage(madeUp(license))])).toThrow(/@made-up\/part 1\.2\.3 \(/);
  });

  it('stop the build when there is no text to pass on', () => {
    expect(() => readPackage(madeUp('MIT', {}))).toThrow('@made-up/part 1.2.3 is bundled and has no licence file');
  });
});
