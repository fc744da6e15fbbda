// Whether a session may be opened or deleted now: no session has two writers.

import { WaError } from '../../protocol/errors.ts';
import type { DaemonStatus, ProjectStatus } from '../daemon-status.ts';
import { sessionFilesOf } from '../drivers/session-files.ts';
import { askDaemon, type DaemonDirs } from '../local-client.ts';
import type { Session, SessionsPlace } from './list.ts';

export interface UsePlace extends Pick<SessionsPlace, 'home' | 'env'> {
  dirs: DaemonDirs;
  clock: () => number;
}

/** An agent that works writes more often than this. */
const quietMs = 60_000;

/**
 * Errors: `session_in_use` for a session that is bound to a project, open in a process, or has changed within the last minute;
 * `daemon_busy`, as only the daemon knows which sessions it runs.
 */
export async function refuseUsed(session: Session, { dirs, home, env, clock }: UsePlace): Promise<void> {
  const { agent, id, path, short } = session;
  const refuse = (why: string, hint: string) => {
    throw new WaError('session_in_use', `session ${short} ${why}`, { hint });
  };
  const bound = boundProject(await projectsOf(dirs), { id, path });
  if (bound) refuse(`is the one of ${bound.dir}`, 'End it at the agent first, or go on with it from the phone.');
  const open = await sessionFilesOf(agent)?.open?.({ home, env });
  if (open?.has(id)) refuse('is open in a terminal', 'End it there first.');
  const quiet = clock() - session.modifiedAt;
  if (quiet >= 0 && quiet < quietMs) {
    refuse(`has changed ${Math.round(quiet / 1000)} seconds ago`, 'End the agent, wait a minute, and try again.');
  }
}

/** None when no daemon runs. Errors: `daemon_busy`. */
async function projectsOf(dirs: DaemonDirs): Promise<readonly ProjectStatus[]> {
  try {
    return ((await askDaemon(dirs, 'GET', '/status')) as DaemonStatus).projects;
  } catch (cause) {
    if (cause instanceof WaError && cause.code === 'daemon_not_running') return [];
    throw cause;
  }
}

/** The project that has this session: one of a terminal, or one that the daemon runs itself, whose file no hook has named. */
export function boundProject<P extends Pick<ProjectStatus, 'session' | 'transcript' | 'owned'>>(
  projects: readonly P[],
  { id, path }: Pick<Session, 'id' | 'path'>,
): P | undefined {
  return projects.find(
    ({ session, transcript, owned }) =>
      session === id || owned?.session === id || (session !== null && transcript === path),
  );
}
