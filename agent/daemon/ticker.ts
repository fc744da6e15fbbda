// The daemon's own clock: what is looked at every two seconds, and what a jump of the machine's clock means. Decides nothing itself.

import type { Log } from '../log.ts';
import type { RelayClient } from '../relay/client.ts';
import type { RunningProject } from './project.ts';

export interface TickerOptions {
  projects: readonly RunningProject[];
  client: Pick<RelayClient, 'reconnect'>;
  /** Reminds the owner of what is due, once. Never rejects. */
  remind(): Promise<void>;
  clock: () => number;
  log: Log;
}

const tickMs = 2_000;
/** A tick that comes this much too late means that the machine slept or its clock was set. */
const jumpMs = 10_000;

/** Returns what ends it. */
export function startTicker({ projects, client, remind, clock, log }: TickerOptions): () => void {
  let lastTick = clock();
  const ticker = setInterval(() => {
    const late = clock() - lastTick - tickMs;
    lastTick = clock();
    if (Math.abs(late) > jumpMs) {
      log('info', 'clock jumped', { lateMs: late });
      client.reconnect();
      for (const project of projects) project.pull.wake();
    }
    void remind();
    for (const project of projects) {
      project.stands();
      Promise.all([project.guard.tick(), project.turns.checkProcess(), project.mcp.check(), project.held.tend()]).catch(
        (cause) => log('error', 'periodic check failed', { error: (cause as Error).message }),
      );
    }
  }, tickMs);
  return () => clearInterval(ticker);
}
