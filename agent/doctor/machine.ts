// The machine: Node, disk, file systems, the modes of the folders that wa-sync keeps, the runtime directory.

import { chmod, lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { mailboxFolder } from '../../protocol/files.ts';
import { socketFileName } from '../../protocol/hook.ts';
import { pathBelow } from '../fs/below.ts';
import type { Check } from './check.ts';
import { type Finding, fail, ok, skipped, warn } from './finding.ts';
import type { World } from './world.ts';

/** What package.json asks of Node. */
const oldestNode = [20, 18, 1] as const;

/** Below the first nothing can be kept for long; below the second it soon cannot. */
const fullBytes = 50 * 1024 * 1024;
const scarceBytes = 500 * 1024 * 1024;

/** File systems of other machines, by the number of `statfs`: changes there wake no watcher, and locks may not hold. */
const remote: Readonly<Record<number, string>> = {
  26985: 'NFS',
  4283649346: 'CIFS',
  4266872130: 'SMB',
  20859: 'SMB',
  16914839: '9p, as WSL has for the disks of Windows',
  1397114950: 'a disk of Windows in WSL',
  1702057286: 'FUSE',
  2020557398: 'a shared folder of VirtualBox',
};

/** sockaddr_un holds 104 bytes on macOS. */
const maxSocketPathBytes = 100;

export const machineChecks: readonly Check[] = [
  { name: 'node', run: node },
  { name: 'disk', run: disk },
  { name: 'file-system', run: fileSystem },
  { name: 'folders', run: folderModes },
  { name: 'runtime-dir', run: runtimeDir },
];

async function node({ nodeVersion, execPath }: World): Promise<Finding[]> {
  const oldest = oldestNode.join('.');
  if (isOlder(nodeVersion, oldest)) {
    return [
      fail('node', `Node ${nodeVersion} (${execPath}) is older than ${oldest}`, `Install Node ${oldest} or newer.`),
    ];
  }
  return [ok('node', `Node ${nodeVersion}, ${execPath}`)];
}

/** Of versions `1.2.3`; what follows a dash does not count. */
export function isOlder(version: string, than: string): boolean {
  const parts = (text: string) => (text.split('-')[0] ?? '').split('.').map(Number);
  const [a, b] = [parts(version), parts(than)];
  const at = [0, 1, 2].find((index) => (a[index] ?? 0) !== (b[index] ?? 0));
  return at !== undefined && (a[at] ?? 0) < (b[at] ?? 0);
}

async function disk(world: World): Promise<Finding[]> {
  const places = [world.dirs.state, ...(await world.folders())];
  const found = await Promise.all(
    places.map(async (path) => {
      const free = (await world.disk(await existing(path)))?.freeBytes;
      if (free === undefined || free >= scarceBytes) return [];
      const evidence = `${Math.floor(free / 1024 / 1024)} MB are free under ${path}`;
      const step = 'Free some disk space: without it no message is confirmed, and each waits in the relay.';
      return [free < fullBytes ? fail('disk', evidence, step) : warn('disk', evidence, step)];
    }),
  );
  return found.flat().length > 0 ? found.flat() : [ok('disk', 'enough space under state directory and projects')];
}

async function fileSystem(world: World): Promise<Finding[]> {
  if (world.platform !== 'linux') return [skipped('file-system', 'only Linux names the kind of a file system')];
  const places = [world.dirs.state, ...(await world.folders()).map((dir) => join(dir, mailboxFolder))];
  const found = await Promise.all(
    places.map(async (path) => {
      const type = (await world.disk(await existing(path)))?.type ?? 0;
      const name = remote[type >>> 0];
      if (name === undefined) return [];
      const isState = path === world.dirs.state;
      const evidence = `${path} lies on a file system of another machine (${name}), where changes wake no watcher and locks may fail`;
      return [
        isState
          ? fail('file-system', evidence, 'Set WA_STATE_DIR to a folder on a local disk, then install the hooks again.')
          : warn('file-system', evidence, 'Set WA_MAILBOX_DIR to a folder on a local disk, then start wa-sync again.'),
      ];
    }),
  );
  return found.flat().length > 0
    ? found.flat()
    : [ok('file-system', 'state directory and mailboxes lie on local disks')];
}

/** The folder, or the nearest one above it that exists. */
async function existing(path: string): Promise<string> {
  const isThere = await lstat(path).then(
    () => true,
    () => false,
  );
  return isThere || dirname(path) === path ? path : existing(dirname(path));
}

/** Config and state directory hold names of folders, ids and texts. */
async function folderModes(world: World): Promise<Finding[]> {
  if (world.platform === 'win32') return [skipped('folders', 'Windows has no modes')];
  const found = await Promise.all([world.dirs.config, world.dirs.state].map((dir) => folderMode(world, dir)));
  return found.flat().length > 0 ? found.flat() : [ok('folders', 'only you can enter config and state directory')];
}

async function folderMode({ uid }: World, dir: string): Promise<Finding[]> {
  const info = await lstat(await pathBelow(dir)).catch(() => undefined);
  if (!info?.isDirectory() || (info.mode & 0o077) === 0) return [];
  const evidence = `other users can ${(info.mode & 0o022) === 0 ? 'look into' : 'write to'} ${dir} (mode ${(info.mode & 0o777).toString(8)})`;
  const step = `chmod 700 "${dir}"`;
  if (info.uid !== uid)
    return [fail('folders', `${evidence}, which belongs to user ${info.uid}`, `Make it yours: chown.`)];
  const make = (info.mode & 0o022) === 0 ? warn : fail;
  return [make('folders', evidence, step, () => close(dir, 0o700))];
}

/** Returns what was done. The folder or file is this user's and no link. */
export async function close(path: string, mode: number): Promise<string> {
  await chmod(path, mode);
  return `${path} has mode ${mode.toString(8)} now`;
}

async function runtimeDir({ dirs, platform, uid }: World): Promise<Finding[]> {
  const dir = dirs.runtime;
  if (platform === 'win32') return [ok('runtime-dir', dir)];
  const bytes = Buffer.byteLength(join(dir, socketFileName));
  if (bytes > maxSocketPathBytes) {
    return [
      fail(
        'runtime-dir',
        `the socket path in ${dir} has ${bytes} bytes, at most ${maxSocketPathBytes} work`,
        'Set WA_RUNTIME_DIR to a shorter directory that you own, and run `wa-sync hooks install` with it.',
      ),
    ];
  }
  const info = await lstat(dir).catch(() => undefined);
  if (!info) return [ok('runtime-dir', `${dir} does not exist yet; the daemon makes it`)];
  if (!info.isDirectory()) return [fail('runtime-dir', `${dir} is not a folder`, `Move ${dir} away.`)];
  if (info.uid !== uid) {
    const step = `Remove ${dir}, or set WA_RUNTIME_DIR to a directory that only you can enter.`;
    return [fail('runtime-dir', `${dir} belongs to user ${info.uid}`, step)];
  }
  if ((info.mode & 0o077) !== 0) {
    const evidence = `other users can reach the socket in ${dir} (mode ${(info.mode & 0o777).toString(8)})`;
    return [fail('runtime-dir', evidence, `chmod 700 "${dir}"`, () => close(dir, 0o700))];
  }
  return [ok('runtime-dir', dir)];
}
