// Whether the daemon owns the agent that runs this hook, and speaks with it itself.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { directories, type PathsInput } from '../agent/paths.ts';
import { ownedFolder } from '../protocol/hook.ts';

/** `id` = the value of `ownedVariable`, which proves nothing by itself: only the daemon makes the file. */
export function isOwned(world: PathsInput, id: string | undefined): boolean {
  if (id === undefined || !/^[0-9a-f]{32}$/.test(id)) return false;
  const info = statSync(join(directories(world).runtime, ownedFolder, id), { throwIfNoEntry: false });
  return info?.isFile() === true && (process.getuid === undefined || info.uid === process.getuid());
}
