// The launcher of the service, run by a real sh: which Node it takes when some are too old or gone, and how it ends without one.

import { spawnSync } from 'node:child_process';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { shLauncher, whichNode } from '../../../agent/service/launcher.ts';
import { oldestNode, recordedNodes } from '../../../agent/service/node.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { temporaryFolder } from '../../helpers/surroundings.ts';

let dir: string;
let launcher: string;
beforeEach(async () => {
  dir = await temporaryFolder();
  launcher = join(dir, 'launcher');
});

/** A Node that says its version, or what it is called with. */
async function node(place: string, version: string): Promise<string> {
  const path = join(dir, place);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `#!/bin/sh\n[ "$1" = --version ] && echo ${version} && exit\nprintf '<%s>' ${place} "$@"\n`);
  await chmod(path, 0o755);
  return path;
}

async function write(system: string[], recorded: string[]): Promise<void> {
  const program = join(dir, "it's $HOME", 'wa-sync.js');
  await writeFile(launcher, shLauncher({ program, recorded, home: dir, system }));
}

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync('/bin/sh', [launcher, ...args], {
    env: { PATH: '/nowhere' },
    encoding: 'utf8',
  });
  return { status, stdout: stdout.replaceAll(dir, ''), stderr };
}

describe.skipIf(process.platform === 'win32')('the launcher of the service', () => {
  it('takes a Node of the system first, and passes its words on as they are', async () => {
    await write([await node('usr/bin/node', 'v24.1.0')], [await node('recorded/node', 'v22.0.0')]);
    expect(run('start', 'a b', '$x', "'")).toEqual({
      status: 0,
      stdout: "<usr/bin/node></it's $HOME/wa-sync.js><start><a b><$x><'>",
      stderr: '',
    });
    expect(run(whichNode)).toEqual({ status: 0, stdout: '/usr/bin/node\n', stderr: '' });
  });

  it.each(['v18.20.4', 'v20.18.0', 'v20.9.2', 'v9.99.99', 'nonsense', ''])(
    'passes a Node that says "%s" over, and takes the one that installed the service',
    async (version) => {
      await write([await node('usr/bin/node', version)], [await node('recorded/node', 'v20.18.1')]);
      expect(run(whichNode)).toEqual({ status: 0, stdout: '/recorded/node\n', stderr: '' });
    },
  );

  it('finds the Node that a version manager has now when the recorded one is gone', async () => {
    const recorded = await node('.nvm/versions/node/v22.1.0/bin/node', 'v22.1.0');
    await node('.nvm/versions/node/v18.0.0/bin/node', 'v18.0.0');
    await node('.nvm/versions/node/v24.0.0/bin/node', 'v24.0.0');
    await write([join(dir, 'usr/bin/node')], [recorded]);
    expect(run(whichNode).stdout).toBe('/.nvm/versions/node/v22.1.0/bin/node\n');
    await rm(recorded);
    expect(run(whichNode).stdout).toBe('/.nvm/versions/node/v24.0.0/bin/node\n');
  });

  it('without any Node ends with the code that no restart follows: 2, and for launchd 0', async () => {
    await write([], []);
    const said = expect.stringContaining(
      'no Node 20.18.1 or newer was found; install one, then run: wa-sync service install',
    );
    expect(run('start', '--quiet', '--service', 'systemd')).toEqual({ status: 2, stdout: '', stderr: said });
    expect(run('start', '--quiet', '--service', 'launchd')).toEqual({ status: 0, stdout: '', stderr: said });
  });

  it('looks for the oldest Node that the package promises', () => {
    expect(packageJson.engines.node).toBe(`>=${oldestNode.join('.')}`);
  });
});

describe('the Node that is recorded', () => {
  it.each([
    ['/home/a/.nvm/versions/node/v22.1.0/bin/node', '/home/a/.nvm/current/bin/node'],
    ['/home/a/.volta/tools/image/node/22.1.0/bin/node', '/home/a/.volta/bin/node'],
    [
      '/home/a/.local/share/fnm/node-versions/v22.1.0/installation/bin/node',
      '/home/a/.local/share/fnm/aliases/default/bin/node',
    ],
    [
      '/home/a/.local/share/mise/installs/node/22.1.0/bin/node',
      '/home/a/.local/share/mise/installs/node/latest/bin/node',
    ],
    ['/home/a/.asdf/installs/nodejs/22.1.0/bin/node', '/home/a/.asdf/shims/node'],
    ['/opt/homebrew/Cellar/node/24.1.0/bin/node', '/opt/homebrew/opt/node/bin/node'],
  ])('of %s is also %s, which follows upgrades', (execPath, stable) => {
    expect(recordedNodes(execPath, (path) => path === stable)).toEqual([stable, execPath]);
    expect(recordedNodes(execPath, () => false)).toEqual([execPath]);
  });

  it('is itself where no version manager has it', () => {
    expect(recordedNodes('/usr/bin/node', () => true)).toEqual(['/usr/bin/node']);
  });
});
