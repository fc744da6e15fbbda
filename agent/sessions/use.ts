// Whether somebody may write into a session now: never two writers on one session.

import { WaError } from '../../protocol/errors.ts';
import type { DaemonStatus } from '../daemon-status.ts';
import { sessionFilesOf } from '../drivers/session-files.ts';
import { askDaemon, type DaemonDirs } from '../local-client.ts';
import type { Session, SessionsPlace } from './list.ts';

export interface UsePlace extends Pick<SessionsPlace, 'home' | 'env'> {
  dirs: DaemonDirs;
  clock: () => number;
}

/** An agent that works writes more often than this. */
const quietMs = 60_000;

/** Errors: `session_in_use` for a session that is bound to a project, open in a process, or has changed within the last minute. */
export async function refuseUsed(session: Session, { dirs, home, env, clock }: UsePlace): Promise<void> {
  const { agent, id, path, short } = session;
  const refuse = (why: string, hint: string) => {
    throw new WaError('session_in_use', `session ${short} ${why}`, { hint });
  };
  const status = (await askDaemon(dirs, 'GET', '/status').catch(() => ({ projects: [] }))) as Pick<
    DaemonStatus,
    'projects'
  >;
  const bound = status.projects.find((each) => each.session !== null && each.transcript === path);
  if (bound) refuse(`is the one of ${bound.dir}`, `End it at the agent first, or go on with it from the phone.`);
  const open = await sessionFilesOf(agent)?.open?.({ home, env });
  if (open?.has(id)) refuse('is open in a terminal', 'End it there first.');
  const quiet = clock() - session.modifiedAt;
  if (quiet >= 0 && quiet < quietMs) {
    refuse(`has changed ${Math.round(quiet / 1000)} seconds ago`, 'End the agent, wait a minute, and try again.');
  }
}
