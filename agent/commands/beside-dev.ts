// Which daemon a command speaks to: that of the user, or `wa-sync dev` of the folder around it, which keeps its own directories.

import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { devPlace, devVariables } from '../dev/variables.ts';
import { readLockOwner } from '../fs/lock.ts';
import { directories, stateFiles } from '../paths.ts';
import { isOver } from '../process.ts';
import type { CommandContext } from './context.ts';

/** The commands that ask a running daemon, or work on what it serves. */
export const daemonCommands: ReadonlySet<string> = new Set(
  'status down stop sprint away send letters mcp approvals audit policy'.split(' '),
);

const variableNames = ['WA_STATE_DIR', 'WA_CONFIG_DIR', 'WA_RUNTIME_DIR'] as const;

/**
 * The variables of the nearest running `wa-sync dev` at or above the current folder; undefined = there is none, a daemon of the user
 * runs, or the environment names its directories.
 */
export async function devBeside(
  context: Pick<CommandContext, 'env' | 'platform' | 'home' | 'cwd'>,
): Promise<{ dir: string; env: Record<string, string> } | undefined> {
  if (variableNames.some((name) => context.env[name])) return undefined;
  const { state, runtime } = directories(context);
  if (await isHeld(stateFiles(state).lock)) return undefined;
  let dir = await realpath(context.cwd).catch(() => context.cwd);
  for (let above = ''; above !== dir; [above, dir] = [dir, dirname(dir)]) {
    const { baseDir, runtimeDir, lock } = devPlace({ state, runtime }, dir);
    if (await isHeld(lock)) return { dir, env: devVariables(baseDir, runtimeDir) };
  }
  return undefined;
}

async function isHeld(lock: string): Promise<boolean> {
  const owner = await readLockOwner(lock);
  return owner !== undefined && !isOver(owner);
}
