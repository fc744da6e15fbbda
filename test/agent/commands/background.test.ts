// The daemon without a terminal, as the built program: started in the background, started anew, taken over by a service, its log followed.

import { appendFile, mkdir, realpath, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { livingOwner } from '../../../agent/commands/background.ts';
import type { CommandContext } from '../../../agent/commands/context.ts';
import { logsCommand, readable } from '../../../agent/commands/logs.ts';
import { loadConfig } from '../../../agent/config.ts';
import { isAlive } from '../../../agent/process.ts';
import { runProgram, until } from '../../helpers/daemon.ts';
import { noProgress, temporaryFolder } from '../../helpers/surroundings.ts';

let dir: string;
let project: string;
let env: Record<string, string>;
beforeEach(async () => {
  dir = await temporaryFolder();
  project = join(dir, 'project');
  env = {
    HOME: dir,
    WA_CONFIG_DIR: join(dir, 'config'),
    WA_STATE_DIR: join(dir, 'state'),
    WA_RUNTIME_DIR: join(dir, 'run'),
  };
  await mkdir(project);
  await mkdir(join(dir, 'config'));
  // Nothing listens there: with a binding the daemon starts without a network.
  const relay = { url: 'http://127.0.0.1:9', token: 'a-t0ken' };
  const bindings = [{ dir: project, mailbox: '1000001' }];
  await writeFile(join(dir, 'config', 'config.json'), JSON.stringify({ relay, bindings }), { mode: 0o600 });
  onTestFinished(async () => {
    const pid = await livingOwner(env.WA_STATE_DIR as string);
    await run('down');
    // It writes its log until its end.
    if (pid !== undefined) await until('the daemon has ended', () => !isAlive(pid));
  });
});

/** Progress depends on how busy the machine is. */
async function run(...args: string[]) {
  const { code, stdout, stderr } = await runProgram(args, env, dir).exited;
  return { code, stdout, stderr: stderr.replace(/^.* …\n/, '') };
}

const pidIn = (text: string) => Number(/pid (\d+)/.exec(text)?.[1]);
const pidNow = async () => JSON.parse((await run('status', '--json')).stdout).daemon.pid;

describe('start --detach', () => {
  it('ends once the daemon answers, names its process and log, and refuses a second one', async () => {
    const { code, stdout, stderr } = await run('start', '--detach');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/is running, pid \d+; stop it with `wa-sync down`\nlog: .*wa-sync\.log/);
    expect(await pidNow()).toBe(pidIn(stdout));
    expect((await run('logs')).stdout).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d info {2}daemon started version=/m);
    expect(await run('start', '--detach')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/process \d+ \(daemon_running\)\n.*wa-sync restart/),
    });
  });

  it('says why the daemon ended, with its error and its repair', async () => {
    await symlink(project, join(dir, 'run'));
    expect(await run('start', '--detach')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^wa-sync: .*\/run .*\(runtime_dir_unusable\)\n {2}\S.*\n$/),
    });
  });
});

it('restart ends the daemon and starts another one', async () => {
  const first = pidIn((await run('start', '--detach')).stdout);
  const { code, stdout } = await run('restart');
  expect(code).toBe(0);
  expect(await pidNow()).toBe(pidIn(stdout));
  expect(pidIn(stdout)).not.toBe(first);
  await until('the first has ended', () => !isAlive(first));
});

it('a start by the service takes the place of the daemon that a hook or a person started', async () => {
  const first = pidIn((await run('start', '--detach')).stdout);
  const service = runProgram(['start', '--quiet', '--service', 'systemd'], env, dir);
  await until('the service answers', () => service.stdout().includes('is running'));
  expect(await pidNow()).toBe(service.pid);
  await until('the first has ended', () => !isAlive(first));
});

it('a start by launchd that no restart would mend ends with 0, and its reason stands in the log', async () => {
  await writeFile(join(dir, 'config', 'config.json'), '{"bogus":1}');
  expect(await run('start', '--service', 'systemd')).toMatchObject({ code: 2 });
  expect(await run('start', '--service', 'launchd')).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/bad_config/),
  });
  await writeFile(join(dir, 'config', 'config.json'), '{}');
  expect((await run('logs')).stdout).toMatch(/error daemon ended code=bad_config message=".*bogus/);
});

describe('logs', () => {
  const line = (event: string) => `${JSON.stringify({ time: '2026-02-15T14:30:00Z', level: 'info', event })}\n`;

  async function follow(options: { lines: string; follow?: boolean }) {
    const out: string[] = [];
    const world = { env, platform: 'linux' as const, home: dir };
    const context: CommandContext = {
      ...world,
      cwd: dir,
      distDir: '',
      loadConfig: () => loadConfig(world),
      out: (text) => void out.push(text.split(' ').at(-1) ?? ''),
      note: (text) => void out.push(text),
      progress: noProgress,
    };
    const stopping = new AbortController();
    const ended = logsCommand(options, context, stopping.signal);
    return { out, ended, stop: () => stopping.abort() };
  }

  it('shows the last lines, also those of the file before', async () => {
    const log = join(dir, 'state', 'wa-sync.log');
    await mkdir(join(dir, 'state'));
    await writeFile(`${log}.1`, line('one') + line('two'));
    await writeFile(log, line('three') + line('four'));
    const { out, ended } = await follow({ lines: '3' });
    await ended;
    expect(out).toEqual(['two', 'three', 'four']);
  });

  it('follows what is added, and loses nothing when the log turns over', async () => {
    const log = join(dir, 'state', 'wa-sync.log');
    await mkdir(join(dir, 'state'));
    await writeFile(log, line('one'));
    const { out, ended, stop } = await follow({ lines: '10', follow: true });
    await until('the beginning is shown', () => out.length === 1);
    await appendFile(log, line('two'));
    await rename(log, `${log}.1`);
    await writeFile(log, line('three'));
    await until('the new file is shown', () => out.length === 3);
    await appendFile(log, line('four').slice(0, 20));
    await appendFile(log, line('four').slice(20));
    await until('a line that came in two parts is shown whole', () => out.length === 4);
    stop();
    await ended;
    expect(out).toEqual(['one', 'two', 'three', 'four']);
  });

  it('says that there is none, and refuses what is no number', async () => {
    const { out, ended } = await follow({ lines: '5' });
    await ended;
    expect(out).toEqual([`no log in ${await realpath(dir)}/state: no daemon has run with this state directory`]);
    await expect((await follow({ lines: 'many' })).ended).rejects.toMatchObject({ code: 'bad_arguments' });
  });

  it('shows a line of another form as it is', () => {
    expect(readable('not json')).toBe('not json');
    expect(readable('{"time":"never"}')).toBe('{"time":"never"}');
  });
});
