// Brings the pinned coding agents, and the ACP adapters of two of them, into a cache folder, and finds tmux: for the tests against the
// real programs. Must never touch an agent, a home or a tmux server that the developer uses.

import { spawn } from 'node:child_process';
import { access, constants, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WaError } from '../protocol/errors.ts';

interface Host {
  name: string;
  version: string;
  /** Below node_modules. */
  program: string;
  /** The user's own agent serves; the adapter's copy of it is not needed. */
  withoutOptional?: true;
}

const platform = `${process.platform}-${process.arch}`;

const hosts = {
  gemini: { name: '@google/gemini-cli', version: '0.61.0', program: '@google/gemini-cli/bundle/gemini.js' },
  claude: {
    name: '@anthropic-ai/claude-code',
    version: '2.1.329',
    program: `@anthropic-ai/claude-code-${platform}/claude`,
  },
  codex: { name: '@openai/codex', version: '0.169.0', program: '@openai/codex/bin/codex.js' },
  claudeAcp: {
    name: '@agentclientprotocol/claude-agent-acp',
    version: '0.100.0',
    program: '@agentclientprotocol/claude-agent-acp/dist/index.js',
    withoutOptional: true,
  },
  codexAcp: {
    name: '@agentclientprotocol/codex-acp',
    version: '2.6.0',
    program: '@agentclientprotocol/codex-acp/dist/index.js',
    withoutOptional: true,
  },
} as const satisfies Record<string, Host>;

export type HostName = keyof typeof hosts;

const repository = fileURLToPath(new URL('..', import.meta.url));
const lockPollMs = 200;
const installLimitMs = 300_000;

/**
 * The command line that starts it: its own binary, or Node and its script. Installs it on first use; `WA_TEST_CACHE` moves the cache
 * folder. Raises `child_failed`.
 */
export async function hostCommand(host: HostName): Promise<[string, ...string[]]> {
  const { name, version, program }: Host = hosts[host];
  const cache = process.env.WA_TEST_CACHE || join(repository, '.cache');
  const folder = join(cache, `${name.slice(name.indexOf('/') + 1)}-${version}`);
  const path = join(folder, 'node_modules', program);
  if (!(await usable(path, constants.R_OK))) {
    await mkdir(cache, { recursive: true });
    const release = await lock(`${folder}.lock`);
    try {
      if (!(await usable(path, constants.R_OK))) await install(hosts[host], folder);
    } finally {
      await release();
    }
  }
  return path.endsWith('.js') ? [process.execPath, path] : [path];
}

export async function bringHosts(): Promise<void> {
  for (const host of Object.keys(hosts)) await hostCommand(host as HostName);
}

/** The path of tmux. Root on Debian gets it installed; everybody else gets `not_found` with the command to run. */
export async function tmux(): Promise<string> {
  const found = await findOnPath('tmux');
  if (found) return found;
  const isRoot = process.getuid?.() === 0;
  if (isRoot && (await findOnPath('apt-get'))) {
    await run('apt-get', ['update', '-qq']);
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'tmux']);
    const installed = await findOnPath('tmux');
    if (installed) return installed;
  }
  throw new WaError('not_found', 'tmux is not on the PATH.', { hint: 'Install it: `sudo apt-get install tmux`.' });
}

/** Installs beside the folder and renames, so that a folder of this name is always a complete one. */
async function install({ name, version, withoutOptional }: Host, folder: string): Promise<void> {
  const partial = `${folder}.partial`;
  await rm(partial, { recursive: true, force: true });
  await rm(folder, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  await writeFile(join(partial, 'package.json'), '{ "private": true }\n');
  // Binaries come in packages of their own; no install script of a dependency has to run.
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--save-exact', '--loglevel=error'];
  await run(
    'npm',
    ['install', ...(withoutOptional ? ['--omit=optional'] : []), ...options, `${name}@${version}`],
    partial,
  );
  await rename(partial, folder);
}

/** mkdir is atomic everywhere. The lock names its owner, so that a killed owner does not block the next run. */
async function lock(path: string): Promise<() => Promise<void>> {
  const deadline = Date.now() + installLimitMs;
  while (true) {
    try {
      await mkdir(path);
      await writeFile(join(path, 'owner'), `${hostname()} ${process.pid}`);
      return () => rm(path, { recursive: true, force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (await ownerIsGone(path)) {
      await rm(path, { recursive: true, force: true });
      continue;
    }
    if (Date.now() > deadline) {
      throw new WaError('lock_timeout', `Another run holds ${path} for longer than ${installLimitMs} ms.`, {
        hint: `End that run or remove ${path}.`,
      });
    }
    await new Promise((resolve) => setTimeout(resolve, lockPollMs));
  }
}

async function ownerIsGone(path: string): Promise<boolean> {
  const [host, pid] = await readFile(join(path, 'owner'), 'utf8').then(
    (text) => text.split(' '),
    () => [],
  );
  if (host !== hostname() || pid === undefined) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

async function findOnPath(name: string): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, name);
    if (folder && (await usable(path, constants.X_OK))) return path;
  }
  return undefined;
}

async function usable(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}

function run(command: string, args: string[], cwd?: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'], timeout: installLimitMs });
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr = `${stderr}${chunk}`.slice(-2000);
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) return resolve();
      reject(
        new WaError('child_failed', `\`${command} ${args.join(' ')}\` ended with ${code ?? signal}.\n${stderr}`, {
          hint: 'Check the network and the npm registry, then run it again.',
        }),
      );
    });
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bringHosts();
  process.stdout.write(`${await tmux()}\n`);
}
