// The folder to which the session of a hook call belongs, which decides whose gate a call is. The hook fallback bundles it.

import type { HookCall } from '../../protocol/turn-events.ts';
import { readFrom } from '../fs/tail.ts';
import { driverOf } from './registry.ts';

/** Longer than the first line of a session file. */
const maxHeadBytes = 256 * 1024;

/** The folder in which the session of a hook call began; the `cwd` of the call where its host names no other. Never rejects. */
export async function folderOf(call: HookCall): Promise<string> {
  return (await namedFolder(call)) ?? call.cwd;
}

/** As the session file names it. */
async function namedFolder({ agent, transcript }: HookCall): Promise<string | undefined> {
  const sessionFolder = driverOf(agent)?.sessionFolder;
  if (!sessionFolder || transcript === undefined) return undefined;
  return sessionFolder(await readFrom(transcript, 0, maxHeadBytes).catch(() => ''));
}

/** More sessions than are open at once. */
const maxKnown = 500;

/** `folderOf` with a memory: a session that loses its file stays in its folder, and its calls at the gate of that folder. */
export function createFolders(): typeof folderOf {
  const known = new Map<string, string>();
  return async (call) => {
    const key = `${call.agent} ${call.session}`;
    const folder = known.get(key) ?? (await namedFolder(call));
    if (folder === undefined) return call.cwd;
    known.delete(key);
    known.set(key, folder);
    const [oldest = key] = known.keys();
    if (known.size > maxKnown) known.delete(oldest);
    return folder;
  };
}
