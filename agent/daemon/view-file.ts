// view.json of a project: what a hook without the daemon has to know of the journal and of the running turn.

import { rm } from 'node:fs/promises';
import { identityOf } from '../../protocol/files.ts';
import { fileLimits } from '../../protocol/limits.ts';
import { writeJsonFile } from '../files/json-file.ts';
import type { ProjectState } from '../journal/state.ts';
import type { Log } from '../log.ts';
import { createCoalesced } from '../sync/coalesce.ts';
import { openStops, toEntry } from '../sync/inbox-view.ts';
import type { StoredView } from '../turns/view.ts';

export interface ViewFile {
  /** The turn has changed. False = no place can be written. Never rejects. */
  store(view: StoredView): Promise<boolean>;
  /** The journal has changed. Never rejects. */
  write(): Promise<void>;
  /** The last word. */
  stop(): Promise<void>;
}

/** A file that could not be written is tried again: nothing else happens when a disk has room again, and a hook without the daemon believes it. */
const retryMs = 250;

/** `turnView` gives the turn as it is before it has changed for the first time; `spare` is written while `path` cannot be. */
export function createViewFile(
  [path, spare]: [path: string, spare: string],
  project: ProjectState,
  turnView: () => StoredView,
  log: Log,
): ViewFile {
  let newest: StoredView | undefined;
  let retry: NodeJS.Timeout | undefined;
  let stopped = false;
  let isKept = true;

  const write: () => Promise<void> = createCoalesced(async () => {
    const owner = openStops(project).map(identityOf);
    for (const message of project.waiting.values()) {
      owner.push(identityOf(toEntry(message)));
      if (owner.length >= fileLimits.entries) break;
    }
    const now = turnView();
    const view = newest ?? now;
    // What an agent holds must not come out of a stale file either.
    const handed = [...view.handed, ...[...project.leased.values()].map((message) => identityOf(toEntry(message)))];
    clearTimeout(retry);
    // The journal may have changed since the turn did: of two copies the later one counts.
    isKept = await keep({ ...view, at: Math.max(view.at, now.at), owner, handed });
  });

  async function keep(value: StoredView): Promise<boolean> {
    try {
      await writeJsonFile(path, value);
      await rm(spare, { force: true }).catch(() => {});
      return true;
    } catch (cause) {
      log('warn', 'view not written', { project: project.key, error: (cause as Error).message });
      if (!stopped) retry = setTimeout(write, retryMs).unref();
      return writeJsonFile(spare, value).then(
        () => true,
        () => false,
      );
    }
  }

  return {
    write,
    async store(view) {
      newest = view;
      await write();
      return isKept;
    },
    stop() {
      stopped = true;
      return write();
    },
  };
}
