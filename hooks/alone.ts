// What a hook without a daemon knows of its project, and the two places where it writes down what it does.

import type { Config } from '../agent/config.ts';
import { readNewestJson } from '../agent/files/json-file.ts';
import type { MailboxPlace } from '../agent/files/location.ts';
import { pruneSettled } from '../agent/files/merge.ts';
import { findServed } from '../agent/files/served.ts';
import { readSpool, writeSpool } from '../agent/files/spool.ts';
import { updateMailboxFile } from '../agent/files/update.ts';
import { spoolDirs, viewFiles } from '../agent/paths.ts';
import { isSpooled, type SpoolRecord } from '../agent/turns/spooled.ts';
import { parseStoredView, type StoredView } from '../agent/turns/view.ts';
import type { InboxEntry, OutboxEntry } from '../protocol/files.ts';
import { projectKey } from '../protocol/ids.ts';
import { hookLimits } from '../protocol/limits.ts';
import type { HookCall } from '../protocol/turn-events.ts';

export interface Alone {
  tool: string;
  config: Config;
  key: string;
  place: MailboxPlace;
  projectDir: string;
  view: StoredView | undefined;
  spooled: SpoolRecord[];
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
  const served = await findServed(call.cwd, config);
  if (!served) return undefined;
  const { binding } = served;
  const key = projectKey(binding.mailbox, binding.project);
  // Nothing that lies in the project may keep a gate from being closed.
  const place = await served.place().catch(() => undefined);
  if (!place) return { key };
  const { records } = await readSpool(spoolDirs(config.dirs));
  return {
    tool,
    config,
    key,
    projectDir: binding.dir,
    place,
    view: parseStoredView(await readNewestJson(viewFiles(config.dirs, key))),
    spooled: records
      .map(({ record }) => record)
      .filter(isSpooled)
      .filter((record) => record.project === key),
    now: Date.now(),
  };
}

/** The path of the record; undefined = it could not be kept. */
export async function spool({ config }: Alone, record: SpoolRecord): Promise<string | undefined> {
  return writeSpool(spoolDirs(config.dirs), record).catch(() => undefined);
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
