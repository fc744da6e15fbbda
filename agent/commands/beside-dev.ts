// Which daemon a command speaks to: that of the user, or `wa-sync dev` of the folder around it, which keeps its own directories.

import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { devPlace, devVariables } from '../dev/variables.ts';
import { readLockOwner } from '../fs/lock.ts';
import { findServed } from '../mailbox/served.ts';
import { directories, stateFiles } from '../paths.ts';
import { isOver } from '../process.ts';
import type { CommandContext } from './context.ts';

/** The commands that ask a running daemon, or work on what it serves. */
export const daemonCommands: ReadonlySet<string> = new Set(
  'status doctor logs down stop sprint away run attach send letters mcp approvals audit policy'.split(' '),
);

interface DevBeside {
  dir: string;
  env: Record<string, string>;
  /** False = it is starting or ending. */
  hasDaemon: boolean;
}

/**
 * The variables of the nearest running `wa-sync dev` at or above the current folder, found by the directories of this environment;
 * undefined = there is none, or the daemon of the user runs and serves this folder or a nearer one.
 */
export async function devBeside(
  context: Pick<CommandContext, 'env' | 'platform' | 'home' | 'cwd' | 'loadConfig'>,
): Promise<DevBeside | undefined> {
  const { state, runtime } = directories(context);
  const own = (await isHeld(stateFiles(state).lock)) ? await servedHere(context) : '';
  let dir = await realpath(context.cwd).catch(() => context.cwd);
  for (let above = ''; above !== dir; [above, dir] = [dir, dirname(dir)]) {
    const { baseDir, runtimeDir, lock } = devPlace({ state, runtime }, dir);
    if (dir.length <= own.length) return undefined;
    if (!(await isHeld(lock))) continue;
    const env = devVariables(baseDir, runtimeDir);
    return { dir, env, hasDaemon: await isHeld(stateFiles(env.WA_STATE_DIR).lock) };
  }
  return undefined;
}

/** The folder at or above the current one that the daemon of the user serves; empty = none. */
async function servedHere({ cwd, loadConfig }: Pick<CommandContext, 'cwd' | 'loadConfig'>): Promise<string> {
  try {
    const served = await findServed(cwd, loadConfig());
    return served ? await realpath(served.binding.dir) : '';
  } catch {
    return '';
  }
}

async function isHeld(lock: string): Promise<boolean> {
  const owner = await readLockOwner(lock);
  return owner !== undefined && !isOver(owner);
}
