// The built program as people run it: in a git repository, with directories of its own, and a relay that serves one chat.
// Holds no expectations.

import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type Running, runProgram, until } from '../../helpers/daemon.ts';
import { type FarSide, startFarSide } from '../../helpers/stack.ts';

export interface Program {
  far: FarSide;
  /** HOME, and the folder of the three directories. */
  dir: string;
  project: string;
  env: Record<'HOME' | `WA_${'CONFIG' | 'STATE' | 'RUNTIME'}_DIR` | 'WA_RELAY_URL' | 'WA_AGENT_TOKEN', string>;
  /** Writes config.json. */
  config(text: string): Promise<void>;
}

/** `take` gets the program of each test. Without other words it runs in the project. */
export function eachProgram(take: (program: Program) => void) {
  let far: FarSide;
  let dir: string;
  let project: string;
  let env: Program['env'];
  const running: Running[] = [];
  beforeAll(async () => {
    // One chat only, as most people have.
    far = await startFarSide({ chats: 0 });
  });
  afterAll(() => far.close());
  beforeEach(async () => {
    dir = await realpath(await mkdtemp(join(tmpdir(), 'wa-cli-')));
    project = join(dir, 'project');
    await mkdir(project);
    execFileSync('git', ['init', '-q', project]);
    env = {
      HOME: dir,
      WA_CONFIG_DIR: join(dir, 'config'),
      WA_STATE_DIR: join(dir, 'state'),
      WA_RUNTIME_DIR: join(dir, 'run'),
      WA_RELAY_URL: far.url,
      WA_AGENT_TOKEN: far.token,
    };
    // The relay serves one workstation at a time: each test is a later start of the same one.
    await mkdir(env.WA_CONFIG_DIR);
    await writeFile(join(env.WA_CONFIG_DIR, 'daemon.id'), 'a-workstation-of-tests\n');
    take({ far, dir, project, env, config });
  });
  afterEach(async () => {
    for (const each of running.splice(0)) {
      each.child.kill('SIGKILL');
      await each.exited;
    }
    await rm(dir, { recursive: true, force: true });
  });

  const config = (text: string) => writeFile(join(env.WA_CONFIG_DIR, 'config.json'), text);
  function start(args: string[] = ['start'], changes: Record<string, string> = {}, cwd = project, stdin = ''): Running {
    const started = runProgram(args, { ...env, ...changes }, cwd, stdin);
    running.push(started);
    return started;
  }
  const run = (args: string[], changes?: Record<string, string>, cwd?: string, stdin?: string) =>
    start(args, changes, cwd, stdin).exited;
  /** Resolves when it says that it runs. */
  async function daemon(changes?: Record<string, string>, cwd?: string, args = ['start']): Promise<Running> {
    const started = start(args, changes, cwd);
    await until('the daemon runs', () => {
      if (started.child.exitCode !== null) throw new Error(started.stderr());
      return started.stdout().includes('is running');
    });
    return started;
  }
  return { run, daemon };
}
