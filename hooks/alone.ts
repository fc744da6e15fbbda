// What a hook without a daemon knows of its project: where the two files lie, and what stands in them.

import { statSync } from 'node:fs';
import type { Config } from '../agent/config.ts';
import { folderOf } from '../agent/drivers/session-folder.ts';
import { pruneSettled } from '../agent/mailbox/merge.ts';
import { findServed, type MailboxPlace } from '../agent/mailbox/served.ts';
import { readSigner, type Signer } from '../agent/mailbox/signing.ts';
import { updateMailboxFile } from '../agent/mailbox/update.ts';
import type { HookNote, InboxEntry, OutboxEntry } from '../protocol/files.ts';
import { projectKey } from '../protocol/ids.ts';
import { hookLimits } from '../protocol/limits.ts';
import type { HookCall } from '../protocol/turn-events.ts';

export interface Alone {
  tool: string;
  call: HookCall;
  config: Config;
  key: string;
  place: MailboxPlace;
  projectDir: string;
  signer: Signer;
  now: number;
}

/**
 * Undefined = no folder of ours. Only the key = no daemon has served it yet: its gates may be closed, but nobody knows what of its
 * files came with the repository.
 */
export async function lookAround(
  config: Config,
  call: HookCall,
  tool: string,
): Promise<Alone | { key: string; place?: undefined } | undefined> {
  const served = await findServed(await folderOf(call), config);
  if (!served) return undefined;
  const { binding } = served;
  const key = projectKey(binding.mailbox, binding.project);
  // Nothing that lies in the project may keep a gate from being closed.
  const place = await served.place().catch(() => undefined);
  if (!place) return { key };
  const signer = readSigner(config.dirs.config, key);
  return { tool, call, config, key, projectDir: binding.dir, place, signer, now: Date.now() };
}

/** What the next daemon reads in the entries that this hook takes or writes. */
export function noteNow({ tool, call: { session, transcript } }: Alone): HookNote {
  return { tool, session, transcript: transcript ?? null, at: sizeOf(transcript) };
}

function sizeOf(path: string | undefined): number {
  try {
    return path === undefined ? 0 : statSync(path).size;
  } catch {
    return 0;
  }
}

/** False = it could not be written. */
export async function update<E extends InboxEntry | OutboxEntry>(
  path: string,
  kind: 'inbox' | 'outbox',
  change: (entries: readonly E[]) => E[],
): Promise<boolean> {
  const options = { path, kind, now: Date.now, lockTimeoutMs: hookLimits.fileLockMs };
  return updateMailboxFile(options, (entries) => pruneSettled(change(entries as E[]), kind, Date.now())).then(
    () => true,
    () => false,
  );
}
