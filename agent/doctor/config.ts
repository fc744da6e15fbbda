// config.json: whether it can be read and means something, the modes of the files beside it, and bound folders.

import { lstat, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { withLine } from '../config-check.ts';
import { readBotFile } from '../dev/local-bot.ts';
import { configFiles } from '../paths.ts';
import type { Check } from './check.ts';
import { type Finding, fail, ok, skipped, warn } from './finding.ts';
import { close } from './machine.ts';
import { asWaError, said, type World } from './world.ts';

export const configChecks: readonly Check[] = [
  { name: 'config', run: config },
  { name: 'bindings', run: bindings },
  { name: 'modes', run: modes },
];

async function config(world: World): Promise<Finding[]> {
  const known = world.config();
  if (!known.ok) return [fail('config', ...said(asWaError(await withLine(known.error))))];
  const { relay, file, isLocal } = known.value;
  if (isLocal) return [await localBot(world, file)];
  if (relay) return [ok('config', relay.from === 'config' ? file : 'the relay is named by the environment')];
  const step = 'Run `wa-sync setup`, or put "relay" into config.json (docs/relay.md); `wa-sync dev` needs no account.';
  return [fail('config', `no relay is configured: neither variables nor "relay" in ${file}`, step)];
}

/** Without its bot the daemon does not start. */
async function localBot({ dirs }: World, file: string): Promise<Finding> {
  try {
    if (await readBotFile(dirs.config)) return ok('config', `${file}: the daemon runs the relay itself`);
  } catch (cause) {
    return fail('config', ...said(asWaError(cause)));
  }
  const evidence = `${file} names a relay on this machine, but bot.json beside it is missing`;
  return fail('config', evidence, 'Run `wa-sync setup bot --local`.');
}

async function bindings(world: World): Promise<Finding[]> {
  const known = world.config();
  if (!known.ok) return [skipped('bindings', 'config.json cannot be read')];
  const { bindings: bound, file } = known.value;
  const lost = await Promise.all(
    bound.map(async ({ dir }) => {
      const info = await stat(dir).catch(() => undefined);
      if (info?.isDirectory()) return [];
      const step = `Correct "bindings" in ${file}, or mount the disk: messages wait until the folder exists.`;
      return [fail('bindings', `${dir} is not a folder`, step)];
    }),
  );
  if (lost.flat().length > 0) return lost.flat();
  if (bound.length > 0) return [ok('bindings', bound.map(({ dir }) => dir).join(', '))];
  return [ok('bindings', 'none: the daemon serves the folder that it is started in')];
}

/** Files beside config.json that let their reader act as this workstation or as the bot. */
async function modes(world: World): Promise<Finding[]> {
  if (world.platform === 'win32') return [skipped('modes', 'Windows has no modes')];
  const { config: dir } = world.dirs;
  const names = ['config.json', 'bot.json', 'setup.json', 'daemon.id'];
  const paths = [...names.map((name) => join(dir, name)), configFiles(dir).signingKey];
  const found = await Promise.all(paths.map((path) => mode(world, path)));
  return found.flat().length > 0 ? found.flat() : [ok('modes', `only you can read the secrets in ${dir}`)];
}

async function mode({ uid }: World, path: string): Promise<Finding[]> {
  const info = await stat(path).catch(() => undefined);
  if (!info || (info.mode & 0o077) === 0) return [];
  const evidence = `other users can read ${path} (mode ${(info.mode & 0o777).toString(8)})`;
  const step = `chmod 600 "${path}"`;
  // Behind a link may lie a file of anybody.
  const isOwn = info.uid === uid && (await lstat(path)).isFile();
  return [isOwn ? fail('modes', evidence, step, () => close(path, 0o600)) : warn('modes', evidence, step)];
}
