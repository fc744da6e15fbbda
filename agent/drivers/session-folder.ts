// The folder to which the session of a hook call belongs, which decides whose gate a call is. The hook fallback bundles it.

import type { HookCall } from '../../protocol/turn-events.ts';
import { readFrom } from '../fs/tail.ts';
import { driverOf } from './registry.ts';

/** Longer than the first line of a session file. */
const maxHeadBytes = 256 * 1024;

/** The folder in which the session of a hook call began; the `cwd` of the call where its host names no other. Never rejects. */
export async function folderOf({ agent, transcript, cwd }: HookCall): Promise<string> {
  const sessionFolder = driverOf(agent)?.sessionFolder;
  if (!sessionFolder || transcript === undefined) return cwd;
  const head = await readFrom(transcript, 0, maxHeadBytes).catch(() => '');
  return sessionFolder(head) ?? cwd;
}
