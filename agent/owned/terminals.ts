// Which session is open in which terminal, as the hooks say: a session that a person has open must not be opened a second time.

import type { HookCall } from '../../protocol/turn-events.ts';

/** More terminals than a person has; the oldest is forgotten. */
const maxTerminals = 100;

export function createTerminals(isAlive: (pid: number) => boolean) {
  /** A process has one session at a time. */
  const sessions = new Map<number, string>();
  return {
    sees({ session, event }: HookCall, pid: number | undefined): void {
      if (pid === undefined) return;
      sessions.delete(pid);
      if (event.type === 'sessionEnd') return;
      sessions.set(pid, session);
      const [oldest] = sessions.keys();
      if (sessions.size > maxTerminals && oldest !== undefined) sessions.delete(oldest);
    },
    /** The process that has this session open; undefined = none is known to. */
    holderOf(session: string): number | undefined {
      for (const [pid, id] of sessions) {
        if (id === session && isAlive(pid)) return pid;
      }
      return undefined;
    },
  };
}
