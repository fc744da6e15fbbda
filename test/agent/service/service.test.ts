// Installing, updating and removing the service on a real disk, with a service manager that only writes down what it is told.

import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isDown, noteDown } from '../../../agent/fs/down.ts';
import { fileLog } from '../../../agent/log.ts';
import { installService, startService, stopService, uninstallService } from '../../../agent/service/service.ts';
import { serviceStatus } from '../../../agent/service/service-status.ts';
import type { RunProgram } from '../../../agent/service/system.ts';
import type { ServiceWorld } from '../../../agent/service/world.ts';
import { type TemporaryHome, temporaryHome } from '../../helpers/home.ts';

let place: TemporaryHome;
let calls: string[];
/** What `systemctl --user is-system-running` says. */
let manager: string;
let active: string;
let world: ServiceWorld;

const run: RunProgram = async (program, args) => {
  const command = [program, ...args].join(' ');
  const answer = (stdout: string, code = 0) => ({ code, stdout, stderr: '' });
  if (command.endsWith('--which-node')) return answer('/usr/bin/node\n');
  if (command.endsWith('is-system-running')) return answer(`${manager}\n`, manager === 'running' ? 0 : 1);
  if (command.startsWith('systemctl --user show')) return answer(active);
  if (command.startsWith('loginctl')) return answer('Linger=no\nDisplay=\n');
  calls.push(command);
  if (/ (restart|start) /.test(command)) active = 'LoadState=loaded\nActiveState=active\nMainPID=77\nExecMainCode=0\n';
  if (/ (stop|disable) /.test(command)) active = 'LoadState=loaded\nActiveState=inactive\nMainPID=0\nExecMainCode=0\n';
  return answer('');
};

beforeEach(async () => {
  place = await temporaryHome();
  calls = [];
  manager = 'running';
  active = 'LoadState=not-found\nActiveState=inactive\nMainPID=0\n';
  await pack('one', '0.1.0', 'console.log(1);\n');
  world = {
    env: {},
    platform: 'linux',
    home: place.home,
    distDir: join(place.root, 'one', 'dist'),
    version: '0.1.0',
    execPath: '/usr/bin/node',
    uid: 1000,
    user: 'ada',
    variables: ['AGENT_HOME'],
    isWsl: false,
    run,
    daemonPid: async () => 77,
    pause: async () => {},
  };
});
afterEach(() => place.close());

async function pack(name: string, version: string, program: string): Promise<void> {
  await place.write(`${name}/package.json`, `{"type":"module","version":"${version}"}`);
  await place.write(`${name}/dist/wa-sync.js`, program);
  await place.write(`${name}/dist/chunks/a.js`, 'export {};\n');
  await place.write(`${name}/dist/worker.meta.json`, 'only tests read it');
  await place.write(`${name}/src/a.ts`, 'is not part of the package');
}

async function config(more: object = {}): Promise<void> {
  const bindings = [{ dir: place.project, mailbox: '1000001' }];
  const relay = { url: 'https://relay.example', token: 's3cret-token' };
  await place.write('dev/.config/wa-sync/config.json', JSON.stringify({ relay, bindings, ...more }), 0o600);
}

const data = () => join(place.home, '.local', 'share', 'wa-sync');
const unit = () => join(place.home, '.config', 'systemd', 'user', 'wa-sync.service');
const copies = () => readdir(join(data(), 'app'));

describe('service install', () => {
  it('starts a copy of the package, and writes no secret', async () => {
    await config({ agents: { scripted: '/opt/tools/bin/scripted' } });
    await noteDown(join(place.home, '.local', 'state', 'wa-sync'));
    world.env = {
      WA_RELAY_URL: 'https://other.example',
      WA_AGENT_TOKEN: 'other-t0ken',
      PATH: '/home/ada/.nvm/bin:/weird',
      AGENT_HOME: '/srv/agent',
      HTTPS_PROXY: 'http://ada:passw0rd@proxy.example',
      HTTP_PROXY: 'http://proxy.example',
    };
    const installed = await installService(world);
    const [name = ''] = await copies();
    expect(name).toMatch(/^0\.1\.0-[0-9a-f]{12}$/);
    expect(installed).toMatchObject({
      system: 'systemd',
      place: unit(),
      packageDir: join(data(), 'app', name, 'dist'),
      launcher: join(data(), 'bin', 'wa-sync'),
      pid: 77,
    });
    expect((await readdir(join(data(), 'app', name), { recursive: true })).sort()).toEqual([
      'dist',
      'dist/chunks',
      'dist/chunks/a.js',
      'dist/wa-sync.js',
      'package.json',
    ]);
    expect(calls).toEqual([
      'systemctl --user daemon-reload',
      'systemctl --user enable wa-sync.service',
      'systemctl --user reset-failed wa-sync.service',
      'systemctl --user restart wa-sync.service',
    ]);
    const text = await readFile(unit(), 'utf8');
    expect(text).toContain(`ExecStart=/bin/sh ${join(data(), 'bin', 'wa-sync')} start --quiet --service systemd\n`);
    expect(text).toContain('Environment=PATH=/usr/local/bin:/usr/bin:/bin:/opt/tools/bin\n');
    expect(text).toContain('Environment=AGENT_HOME=/srv/agent\n');
    expect(text).toContain('Environment=HTTP_PROXY=http://proxy.example\n');
    const { 'dev/.config/wa-sync/config.json': _, ...rest } = await place.snapshot();
    expect(JSON.stringify(rest)).not.toMatch(/s3cret-token|other-t0ken|passw0rd/);
    expect(installed.notes).toEqual([
      expect.stringMatching(/^HTTPS_PROXY holds a name or password/),
      expect.stringMatching(/loginctl enable-linger ada$/),
    ]);
    expect((await stat(join(data(), 'bin', 'wa-sync'))).mode & 0o777).toBe(0o755);
    expect(await isDown(join(place.home, '.local', 'state', 'wa-sync'))).toBe(false);
  });

  it('a second time changes no file, and repairs a copy that was damaged', async () => {
    await config();
    await installService(world);
    const before = await place.snapshot();
    await installService(world);
    expect(await place.snapshot()).toEqual(before);
    const [name = ''] = await copies();
    await rm(join(data(), 'app', name, 'dist', 'chunks'), { recursive: true });
    expect(await serviceStatus(world)).toMatchObject({ running: true, current: false });
    await installService(world);
    expect(await place.snapshot()).toEqual(before);
  });

  it('of another version updates the copy under the same path, removes the old one, and until then status says so', async () => {
    await config();
    await installService(world);
    const before = await readFile(unit(), 'utf8');
    await pack('two', '0.2.0', 'console.log(2);\n');
    const newer = { ...world, version: '0.2.0', distDir: join(place.root, 'two', 'dist') };
    expect(await serviceStatus(newer)).toMatchObject({
      version: '0.1.0',
      current: false,
      troubles: [{ what: 'the service runs wa-sync 0.1.0, this command is 0.2.0', repair: 'wa-sync service install' }],
    });
    await installService(newer);
    expect(await copies()).toEqual([expect.stringMatching(/^0\.2\.0-/)]);
    expect(await readFile(unit(), 'utf8')).toBe(before);
    expect(await serviceStatus(newer)).toMatchObject({ version: '0.2.0', current: true, troubles: [] });
  });

  it.each([
    ['the relay stands only in the environment', {}, 'not_configured', /only in the environment.*mode 600/s],
    ['no folder is bound', { bindings: [] }, 'not_bound', /binds no folder.*"bindings"/s],
    ['a key is mistaken', { hold: 'perhaps' }, 'bad_config', /"hold" must be/],
  ])('is refused when %s, and leaves nothing', async (_, more, code, says) => {
    if (code === 'not_configured') world.env = { WA_RELAY_URL: 'https://relay.example', WA_AGENT_TOKEN: 't' };
    else await config(more);
    const failure = await installService(world).catch((error) => error);
    expect(failure).toMatchObject({ code });
    expect(`${failure.message} ${failure.hint}`).toMatch(says);
    expect(await readdir(place.home, { recursive: true })).not.toContain('.local');
  });

  it('says where the system has no manager of services, names start --detach, and for WSL how to get one', async () => {
    await config();
    manager = 'offline';
    const hint = expect.stringContaining('`wa-sync start --detach`');
    await expect(installService(world)).rejects.toMatchObject({ code: 'service_unavailable', hint });
    await expect(installService({ ...world, isWsl: true })).rejects.toMatchObject({
      code: 'service_unavailable',
      hint: expect.stringMatching(/systemd=true.*wsl --shutdown/),
    });
    expect(await serviceStatus(world)).toMatchObject({ available: false, installed: false, troubles: [] });
    expect(await readdir(place.home)).not.toContain('.local');
  });

  it('says with which error the daemon ended', async () => {
    await config();
    const state = join(place.home, '.local', 'state', 'wa-sync');
    const broken: ServiceWorld = {
      ...world,
      daemonPid: async () => undefined,
      run: async (program, args) => {
        const answer = await run(program, args);
        if (!args.includes('restart')) return answer;
        fileLog(join(state, 'wa-sync.log'), () => 0)('error', 'daemon ended', {
          code: 'bad_config',
          message: 'no "x"',
        });
        active = 'LoadState=loaded\nActiveState=failed\nMainPID=0\nExecMainCode=1\nExecMainStatus=2\n';
        return answer;
      },
    };
    await expect(installService(broken)).rejects.toMatchObject({
      code: 'service_failed',
      message: 'the service was started, and its daemon ended with code 2: no "x" (bad_config)',
    });
    expect((await serviceStatus(broken)).troubles).toEqual([
      { what: 'the service does not run; the last run ended with code 2', repair: 'wa-sync service start' },
    ]);
  });
});

describe('an installed service', () => {
  it('that is stopped keeps hooks from starting a daemon, until it is started', async () => {
    await config();
    const state = join(place.home, '.local', 'state', 'wa-sync');
    await installService(world);
    await stopService(world);
    expect(await isDown(state)).toBe(true);
    expect(await startService(world)).toBe(77);
    expect(await isDown(state)).toBe(false);
  });

  it('is in trouble when its Node is gone', async () => {
    await config();
    await installService(world);
    const withoutNode: RunProgram = (program, args) =>
      args[0] === '--which-node' ? Promise.resolve({ code: 2, stdout: '', stderr: '' }) : run(program, args);
    expect((await serviceStatus({ ...world, run: withoutNode })).troubles).toEqual([
      { what: 'no supported Node is found by the service', repair: 'wa-sync service install' },
    ]);
  });

  it('is removed without a trace', async () => {
    await config();
    await mkdir(dirname(unit()), { recursive: true });
    await mkdir(data(), { recursive: true });
    await mkdir(join(place.home, '.local', 'state', 'wa-sync'), { recursive: true });
    const before = await place.snapshot();
    await installService(world);
    calls = [];
    expect((await uninstallService(world)).sort()).toEqual([unit(), join(data(), 'bin', 'wa-sync')].sort());
    expect(calls).toContain('systemctl --user disable --now wa-sync.service');
    expect(calls.at(-1)).toBe('systemctl --user daemon-reload');
    expect(await place.snapshot()).toEqual(before);
    expect(await uninstallService(world)).toEqual([]);
  });

  it('that does not exist cannot be started, and the error names both ways', async () => {
    await config();
    await expect(startService(world)).rejects.toMatchObject({
      code: 'service_missing',
      hint: expect.stringMatching(/wa-sync service install.*wa-sync start --detach/),
    });
  });

  it('ignores what is written into its unit by another hand only until it is installed again', async () => {
    await config();
    await installService(world);
    await writeFile(unit(), 'something else');
    expect((await serviceStatus(world)).troubles).toEqual([
      { what: 'the service is not what this wa-sync installs', repair: 'wa-sync service install' },
    ]);
  });
});
