// An installed hook that finds no daemon, on the whole path: it starts one and goes on alone, unless the user wants none.

import { spawn } from 'node:child_process';
import { chmod, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readLockOwner } from '../../agent/fs/lock.ts';
import { askDaemon } from '../../agent/local-client.ts';
import { stateFiles } from '../../agent/paths.ts';
import { isOver } from '../../agent/process.ts';
import { until, type Workstation } from '../helpers/daemon.ts';
import { eachTest } from '../helpers/scene.ts';
import type { FarSide } from '../helpers/stack.ts';

let far: FarSide;
let ws: Workstation;
/** As Gemini CLI finds it in the project's settings. */
let command: string;
let runs: number;

eachTest(async (scene) => {
  ({ far, ws } = scene);
  runs = 0;
  await configure({ relay: { url: far.url, token: far.token } });
  const { code, stderr } = await ws.run('hooks', 'install', '--scope', 'project').exited;
  expect([code, stderr]).toEqual([0, '']);
  const settings = JSON.parse(await readFile(join(ws.project, '.gemini', 'settings.json'), 'utf8'));
  // What a busy machine delays must not look like a defect.
  command = settings.hooks.BeforeAgent[0].hooks[0].command.replace(/ BeforeAgent 60 /, ' BeforeAgent 60x10 ');
  expect(command).toContain('60x10');
});
afterEach(async () => {
  const owner = await readLockOwner(stateFiles(ws.stateDir).lock);
  await ws.run('down').exited;
  await until('no daemon is left', () => owner === undefined || isOver(owner));
});

const configure = (more: object) =>
  writeFile(
    join(ws.root, 'config', 'config.json'),
    JSON.stringify({ bindings: [{ dir: ws.project, mailbox: ws.chat.mailbox, project: 0 }], ...more }),
    { mode: 0o600 },
  );
const dirs = () => ({ runtime: ws.runtimeDir, state: ws.stateDir });
const daemonNow = () =>
  askDaemon(dirs(), 'GET', '/status').then(
    (status) => status as { pid: number },
    () => undefined,
  );
const daemonRuns = () => until('a daemon runs', daemonNow);
const recordFile = () => join(dirname(/'([^']+wa-hook)'/.exec(command)?.[1] ?? ''), 'start.json');
/** It is there as soon as the hook has ended, if the hook started anything. */
const hasStarted = () =>
  stat(join(ws.stateDir, 'start.log')).then(
    () => true,
    () => false,
  );

/** A hook of a coding agent whose environment knows nothing of wa-sync. */
async function hook(
  env: Record<string, string> = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  runs += 1;
  const child = spawn('sh', ['-c', command], { cwd: ws.project, env: { PATH: process.env.PATH ?? '', ...env } });
  const out = { stdout: '', stderr: '' };
  child.stdout.on('data', (text) => (out.stdout += text));
  child.stderr.on('data', (text) => (out.stderr += text));
  child.stdin.end(
    JSON.stringify({ session_id: 's', cwd: ws.project, hook_event_name: 'BeforeAgent', prompt: `go on ${runs}` }),
  );
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, ...out };
}

const nothing = { code: 0, stdout: '{}\n', stderr: '' };

describe('a hook that finds no daemon', () => {
  it('starts one, also when several look at once, and the next hook is served by it', async () => {
    expect(await Promise.all([hook(), hook(), hook()])).toEqual([nothing, nothing, nothing]);
    const { pid } = await daemonRuns();
    await ws.chat.say('welcome back');
    await until('it is there', async () => (await ws.inbox()).length === 1);
    const given = await until('a hook is served', async () => {
      const { stdout } = await hook();
      return stdout.includes('welcome back') && stdout;
    });
    expect(given).not.toContain('daemon is not running');
    expect((await daemonNow())?.pid).toBe(pid);
  });

  it('starts none after `wa-sync down`, which says so, until `wa-sync start`', async () => {
    const daemon = await ws.runDaemon();
    expect((await ws.run('down').exited).stdout).toContain('start none until `wa-sync start`');
    await daemon.exited;
    expect(await hook()).toEqual(nothing);
    expect(await hasStarted()).toBe(false);
    expect((await ws.run('status').exited).stderr).toContain('`wa-sync down` was said, so no hook starts it');
    const again = await ws.runDaemon();
    await again.kill9();
    await hook();
    await daemonRuns();
  });

  it('starts none after Ctrl+C, or where nobody configured a relay', async () => {
    const daemon = await ws.runDaemon();
    daemon.child.kill('SIGINT');
    await daemon.exited;
    expect(await hook()).toEqual(nothing);
    expect(await hasStarted()).toBe(false);
    const other = await ws.runDaemon();
    await configure({});
    await other.kill9();
    expect(await hook()).toEqual(nothing);
    expect(await hasStarted()).toBe(false);
  });

  it.runIf(process.platform === 'linux')(
    'gives it program, directories and environment of the installer, whatever its own says',
    async () => {
      const evil = join(ws.root, 'evil');
      const nowhere = {
        WA_RUNTIME_DIR: evil,
        WA_CONFIG_DIR: evil,
        WA_STATE_DIR: evil,
        HOME: evil,
        XDG_DATA_HOME: evil,
      };
      await writeFile(join(ws.project, '.env'), `WA_STATE_DIR=${evil}\n`);
      await writeFile(`${evil}.cjs`, `require('fs').writeFileSync(${JSON.stringify(`${evil}.ran`)}, '')`);
      await hook({
        ...nowhere,
        NODE_OPTIONS: `--require=${evil}.cjs`,
        WA_RELAY_URL: 'http://127.0.0.1:1',
        WA_AGENT_TOKEN: 'x',
      });
      const { pid } = await daemonRuns();
      const environ = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0').filter(Boolean);
      const { HOME, WA_RUNTIME_DIR, WA_CONFIG_DIR, WA_STATE_DIR } = ws.env;
      expect(Object.fromEntries(environ.map((line) => line.split(/=(.*)/s).slice(0, 2)))).toEqual({
        HOME,
        PATH: process.env.PATH,
        WA_RUNTIME_DIR,
        WA_CONFIG_DIR,
        WA_STATE_DIR,
      });
      const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
      expect(args.slice(0, 2)).toEqual([process.execPath, expect.stringMatching(/\/dist\/wa-sync\.js$/)]);
      await expect(stat(`${evil}.ran`)).rejects.toThrow('ENOENT');
    },
  );

  it.runIf(process.platform !== 'win32')(
    'starts none by a record that another user could have written, or that is a link',
    async () => {
      expect((await stat(recordFile())).mode & 0o777).toBe(0o600);
      await chmod(recordFile(), 0o620);
      expect(await hook()).toEqual(nothing);
      await chmod(recordFile(), 0o600);
      await rename(recordFile(), `${recordFile()}.real`);
      await symlink(`${recordFile()}.real`, recordFile());
      expect(await hook()).toEqual(nothing);
      await rm(recordFile());
      expect(await hook()).toEqual(nothing);
      expect(await hasStarted()).toBe(false);
    },
  );
});

it('a daemon that a hook wants is not started when `wa-sync down` was said meanwhile', async () => {
  await ws.run('down').exited;
  expect(await ws.run('start', '--quiet', '--unless-down').exited).toEqual({ code: 0, stdout: '', stderr: '' });
});
