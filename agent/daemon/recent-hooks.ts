// The last hook calls of all folders, in memory: `wa-sync doctor` looks here for the call that it makes.

import type { RecentHook } from '../daemon-status.ts';
import { driverOf } from '../drivers/registry.ts';
import type { HookRun } from '../local-server/app.ts';

const kept = 20;
const maxSessionChars = 128;

export interface RecentHooks {
  note(run: HookRun): void;
  /** Newest last. */
  list(): RecentHook[];
}

export function createRecentHooks(clock: () => number): RecentHooks {
  const calls: RecentHook[] = [];
  return {
    note({ tool, event, payload }) {
      const session = driverOf(tool)?.readCall(event, payload)?.session.slice(0, maxSessionChars);
      if (session === undefined) return;
      calls.push({ agent: tool, event, session, at: clock() });
      if (calls.length > kept) calls.shift();
    },
    list: () => [...calls],
  };
}
