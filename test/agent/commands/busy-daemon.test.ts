// What the commands say of a daemon that is there and does not answer, and of one that is not there.

import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { devPlace } from '../../../agent/dev/variables.ts';
import { acquireLock, type HeldLock } from '../../../agent/fs/lock.ts';
import { rememberBound } from '../../../agent/mailbox/served.ts';
import { runProgram } from '../../helpers/daemon.ts';
import { type TemporaryHome, temporaryHome } from '../../helpers/home.ts';

let home: TemporaryHome;
let env: Record<string, string>;
let lock: HeldLock;
let server: Server | undefined;
const sockets = new Set<Socket>();

beforeEach(async () => {
  home = await temporaryHome();
  const [config, state, run] = ['config', 'state', 'run'].map((name) => join(home.root, name)) as [
    string,
    string,
    string,
  ];
  env = { HOME: home.home, WA_CONFIG_DIR: config, WA_STATE_DIR: state, WA_RUNTIME_DIR: run };
  for (const dir of [config, state]) await mkdir(dir);
  await mkdir(run, { mode: 0o700 });
  const binding = { dir: home.project, mailbox: '1000001', project: 0 };
  await writeFile(join(config, 'config.json'), JSON.stringify({ bindings: [binding] }), { mode: 0o600 });
  await rememberBound(config, binding, null, Date.now());
  lock = await acquireLock(join(state, 'daemon'), { timeoutMs: 0, short: false });
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
  await lock.release();
  await home.close();
});

const run = (...args: string[]) => runProgram(args, env, home.project).exited;

it('a daemon that takes the call and does not answer is called busy, with its process and what to do', async () => {
  server = createServer((socket) => void sockets.add(socket));
  await new Promise<void>((resolve) => server?.listen(join(env.WA_RUNTIME_DIR ?? '', 'hook.sock'), resolve));
  const [status, stop, down, sprint, send] = await Promise.all([
    run('status'),
    run('stop'),
    run('down'),
    run('sprint', '3'),
    run('send', 'Tests pass'),
  ]);
  for (const { code, stderr } of [status, stop, down, sprint]) {
    expect([code, stderr]).toEqual([
      1,
      `wa-sync: the daemon (pid ${process.pid}) does not answer: it is busy or hangs (daemon_busy)\n  Try again. If it lasts: end it with Ctrl+C in its terminal, or with \`kill ${process.pid}\`, and start it again as before; stored messages are kept.\n`,
    ]);
  }
  expect(send).toMatchObject({ code: 0, stderr: '' });
  expect(send.stdout).toContain(`it goes out later: the daemon (pid ${process.pid}) does not answer`);
});

it('a daemon without its socket may be starting, and is named by its process', async () => {
  const { code, stderr } = await run('attach');
  expect(code).toBe(1);
  expect(stderr).toContain(`but one runs as process ${process.pid} (daemon_not_running)`);
  expect(stderr).toContain('It may be starting: try again in a moment. If it lasts, WA_RUNTIME_DIR must be the same');
  expect(stderr).toContain(`removed: end it with Ctrl+C in its terminal, or with \`kill ${process.pid}\`,`);
});

it('a `wa-sync dev` whose daemon does not run yet is worth a second try', async () => {
  await lock.release();
  const { WA_STATE_DIR: state = '', WA_RUNTIME_DIR: runtime = '' } = env;
  const dev = devPlace({ state, runtime }, await realpath(home.project));
  await mkdir(dev.baseDir, { recursive: true });
  const devLock = await acquireLock(dev.lock, { timeoutMs: 0, short: false });
  const { stderr } = await run('attach');
  await devLock.release();
  expect(stderr).toMatch(/^\(this is `wa-sync dev` of \S+; its daemon does not run yet: try again in a moment\)\n/);
});

it('the socket of a dead daemon counts as no running daemon', async () => {
  await lock.release();
  const { stderr } = await run('status');
  expect(stderr).toContain('no daemon answers in');
  expect(stderr).toContain('Start it with `wa-sync`');
});
