// The package as a user gets it: packed, and installed into an empty folder without a registry.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allDrivers } from '../agent/drivers/registry.ts';
import packageJson from '../package.json' with { type: 'json' };

const root = join(import.meta.dirname, '..');
const maxTarballBytes = 3 * 1024 * 1024;

let dir: string;
let project: string;
let tarball: string;

/** npm of this machine, with a cache of its own and no way to a registry. */
function npm(cwd: string, ...args: string[]): string {
  const env = {
    ...process.env,
    HOME: dir,
    npm_config_cache: join(dir, 'cache'),
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
  };
  const windows = process.platform === 'win32';
  return execFileSync('npm', args, { cwd, env, encoding: 'utf8', shell: windows, stdio: ['ignore', 'pipe', 'pipe'] });
}

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'wa-package-'));
  project = join(dir, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true }\n');
  npm(root, 'pack', '--ignore-scripts', '--silent', '--pack-destination', dir);
  tarball = readdirSync(dir).find((name) => name.endsWith('.tgz')) ?? '';
  npm(project, 'install', '--silent', join('..', tarball));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe('the packed package', () => {
  it('installs without a registry, as the only package', () => {
    const { dependencies } = JSON.parse(npm(project, 'ls', '--omit=dev', '--all', '--json'));
    expect(Object.keys(dependencies)).toEqual(['wa-sync']);
    expect(dependencies['wa-sync']).not.toHaveProperty('dependencies');
    expect(readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['wa-sync']);
  });

  it('runs from its file by npx', () => {
    const spec = `./${tarball}`;
    expect(npm(dir, 'exec', '--yes', '--', spec, '--version').trim()).toBe(packageJson.version);
  });

  it('carries the licences of what is bundled, and no list of inputs', () => {
    const dist = readdirSync(join(project, 'node_modules', 'wa-sync', 'dist'));
    const parts = ['wa-sync.js', 'heavy-work.js', 'relay-process.js', 'worker.js'];
    const bundles = allDrivers().map(({ name }) => `wa-hook-${name}.cjs`);
    const ofHooks = ['wa-hook', 'client.pl', 'wa-hook-fallback.cjs', ...bundles];
    expect(dist).toEqual(expect.arrayContaining(['THIRD_PARTY_LICENSES', ...parts, ...ofHooks]));
    expect(readdirSync(join(project, 'node_modules', 'wa-sync'))).toContain('LICENSE');
    expect(dist.filter((name) => name.endsWith('.json'))).toEqual([]);
  });

  it('is a small download', () => {
    expect(statSync(join(dir, tarball)).size).toBeLessThan(maxTarballBytes);
  });

  it('loads the MCP server and the command line of dev from its own files', () => {
    const program = join(project, 'node_modules', 'wa-sync', 'dist', 'wa-sync.js');
    const run = (input: string, ...args: string[]) => execFileSync(process.execPath, [program, ...args], { input });
    const hello = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    };
    const [answer = ''] = run(`${JSON.stringify(hello)}\n`, 'mcp')
      .toString('utf8')
      .split('\n');
    expect(JSON.parse(answer)).toMatchObject({ id: 1, result: { serverInfo: { name: 'wa-sync' } } });
    expect(run('', 'dev', '--help').toString('utf8')).toContain('--telegram');
  });
});
