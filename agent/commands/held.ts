// What polling agents hold, as the running daemon says it; for the commands that show it.

import type { LeasedMessage } from '../../protocol/polling.ts';
import { askDaemon, type DaemonDirs } from '../local-client.ts';

/** Of every project; none when no daemon runs. */
export async function heldMessages(dirs: DaemonDirs): Promise<LeasedMessage[]> {
  try {
    const { projects } = (await askDaemon(dirs, 'GET', '/status')) as {
      projects: { leased?: LeasedMessage[] }[];
    };
    return projects.flatMap(({ leased = [] }) => leased);
  } catch {
    return [];
  }
}

/** Who holds it, and when it is unread again at the latest. */
export function holder({ client, pid, untilAt }: LeasedMessage, now: number): string {
  const minutes = Math.max(0, Math.floor((untilAt - now) / 60_000));
  const left = minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${client} (pid ${pid}), back unread in ${left}`;
}
