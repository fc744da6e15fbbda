// Messages that polling agents hold, as the running daemon reports them.

import type { LeasedMessage } from '../../protocol/polling.ts';
import { askDaemon, type DaemonDirs } from '../local-client.ts';

/** The messages of every project; empty when no daemon runs. */
export async function heldMessages(dirs: DaemonDirs): Promise<LeasedMessage[]> {
  const answer = await askDaemon(dirs, 'GET', '/status').catch(() => ({ projects: [] }));
  const { projects } = answer as { projects: { leased?: LeasedMessage[] }[] };
  return projects.flatMap(({ leased = [] }) => leased);
}

/** The agent that holds the message, and the time until the message is unread again. */
export function holder({ client, pid, untilAt }: LeasedMessage, now: number): string {
  const minutes = Math.max(0, Math.floor((untilAt - now) / 60_000));
  const left = minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${client} (pid ${pid}), back unread in ${left}`;
}
