// Brings the pinned Gemini CLI into a cache folder and finds tmux, for the tests against the real program.
// Must never touch a Gemini CLI, a home or a tmux server that the developer uses.

import { spawn } from 'node:child_process';
import { access, constants, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WaError } from '../protocol/errors.ts';

export const geminiCliVersion = '0.61.0';

const repository = fileURLToPath(new URL('..', import.meta.url));
const lockPollMs = 200;
const installLimitMs = 300_000;

/** The script to run with Node. Installs it on first use; `WA_TEST_CACHE` moves the cache folder. Raises `child_failed`. */
export async function geminiCli(): Promise<string> {
  const cache = process.env.WA_TEST_CACHE || join(repository, '.cache');
  const folder = join(cache, `gemini-cli-${geminiCliVersion}`);
  const script = join(folder, 'node_modules', '@google', 'gemini-cli', 'bundle', 'gemini.js');
  if (await usable(script, constants.R_OK)) return script;
  await mkdir(cache, { recursive: true });
  const release = await lock(`${folder}.lock`);
  try {
    if (!(await usable(script, constants.R_OK))) await install(folder);
  } finally {
    await release();
  }
  return script;
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
async function install(folder: string): Promise<void> {
  const partial = `${folder}.partial`;
  await rm(partial, { recursive: true, force: true });
  await rm(folder, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  await writeFile(join(partial, 'package.json'), '{ "private": true }\n');
  // The terminal library comes with its own binaries; no install script of a dependency has to run.
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--save-exact', '--loglevel=error'];
  await run('npm', ['install', ...options, `@google/gemini-cli@${geminiCliVersion}`], partial);
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
  process.stdout.write(`${await geminiCli()}\n${await tmux()}\n`);
}
