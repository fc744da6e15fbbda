// A stranger's machine: the packed package installed into an empty folder, a home of its own, a git project, and a coding agent on the
// PATH. What the network would bring is there already: the tool chain of the embedded relay lies in the cache folder.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toolchainVersions } from '../../agent/dev/toolchain.ts';
import { until } from '../helpers/daemon.ts';
import { signal } from '../hosts/processes.ts';
import { processesOf } from './watch.ts';

const root = join(import.meta.dirname, '..', '..');

export interface Installed {
  /** The command line of the installed package. */
  readonly program: string;
  remove(): void;
}

/** Packs and installs without a registry. */
export function installPackage(): Installed {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'wa-setup-package-')));
  // As npx keeps what it runs.
  const npx = join(dir, '_npx', '0123456789abcdef');
  const npm = (cwd: string, ...args: string[]) =>
    execFileSync('npm', args, {
      cwd,
      env: {
        ...process.env,
        HOME: dir,
        npm_config_cache: join(dir, 'cache'),
        npm_config_offline: 'true',
        npm_config_audit: 'false',
        npm_config_fund: 'false',
        npm_config_update_notifier: 'false',
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  npm(root, 'pack', '--ignore-scripts', '--silent', '--pack-destination', dir);
  const tarball = readdirSync(dir).find((name) => name.endsWith('.tgz')) ?? '';
  mkdirSync(npx, { recursive: true });
  writeFileSync(join(npx, 'package.json'), '{ "private": true }\n');
  npm(npx, 'install', '--silent', join(dir, tarball));
  return {
    program: join(npx, 'node_modules', 'wa-sync', 'dist', 'wa-sync.js'),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

export interface Run {
  readonly child: ChildProcess;
  /** Everything that it printed so far. */
  printed(): string;
  readonly ended: Promise<{ code: number; printed: string }>;
}

export interface Machine {
  readonly root: string;
  readonly home: string;
  readonly project: string;
  readonly env: Record<string, string>;
  readonly configDir: string;
  /** Starts the installed program in the project. */
  run(args: readonly string[], options?: { env?: Record<string, string>; input?: string; cwd?: string }): Run;
  /** The pid of the daemon that runs now. */
  daemonPid(): Promise<number | undefined>;
  /** Ends the runs that a failed test has left, stops the daemon and removes everything. */
  close(): Promise<void>;
}

export function newMachine({ program }: Installed, variables: Record<string, string>): Machine {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'wa-s-')));
  const home = join(base, 'home');
  const project = join(home, 'project');
  const bin = join(base, 'bin');
  const runtime = join(base, 'run');
  for (const dir of [project, bin, runtime]) mkdirSync(dir, { recursive: true });
  execFileSync('git', ['init', '-q', project]);
  writeFileSync(join(bin, 'gemini'), '#!/bin/sh\n', { mode: 0o755 });
  const cache = join(home, '.cache', 'wa-sync', `embedded-${toolchainVersions.miniflare}`);
  mkdirSync(cache, { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(cache, 'node_modules'));
  const env = {
    PATH: `${bin}:/usr/bin:/bin`,
    HOME: home,
    XDG_RUNTIME_DIR: runtime,
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    ...variables,
  };
  const unfinished = new Set<ChildProcess>();
  const run: Machine['run'] = (args, { env: more = {}, input, cwd = project } = {}) => {
    const child = spawn(process.execPath, [program, ...args], { cwd, env: { ...env, ...more }, stdio: 'pipe' });
    unfinished.add(child);
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
      });
    }
    child.stdin.on('error', () => {});
    if (input !== undefined) child.stdin.end(input);
    const ended = new Promise<{ code: number; printed: string }>((resolve) => {
      child.on('close', (code) => {
        unfinished.delete(child);
        resolve({ code: code ?? -1, printed });
      });
    });
    return { child, printed: () => printed, ended };
  };
  const daemonPid = async () => {
    const { code, printed } = await run(['status', '--json'], { input: '' }).ended;
    return code === 0 ? (JSON.parse(printed).daemon.pid as number) : undefined;
  };
  return {
    root: base,
    home,
    project,
    env,
    configDir: join(home, '.config', 'wa-sync'),
    run,
    daemonPid,
    async close() {
      // Such a run may have started a daemon that does not answer yet.
      if (unfinished.size > 0)
        await until('the runs ended', () => {
          const left = processesOf(base);
          for (const { pid } of left) signal(pid, 'SIGKILL');
          return left.length === 0;
        });
      const pid = await daemonPid();
      if (pid !== undefined) {
        await run(['down'], { input: '' }).ended;
        await until('the daemon ended', () => !isAlive(pid));
      }
      rmSync(base, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
