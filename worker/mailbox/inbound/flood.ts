// Tells the phone once when a chat floods. What floods is stored all the same.

import { relayLimits } from '../../../protocol/limits.ts';
import type { Core } from '../core.ts';
import { tellPhone } from '../outbound/queue.ts';

const minuteMs = 60_000;

export interface Flood {
  /** Counts a message; true when the phone has just been told. */
  count(project: number, nowMs: number): boolean;
}

/** In memory: an object does not hibernate during a flood. */
export function createFlood(core: Core): Flood {
  let startedAt = 0;
  let messages = 0;
  let told = false;
  return {
    count(project, nowMs) {
      if (nowMs - startedAt >= minuteMs) {
        // A quiet minute ends the flood, and the next one is told again.
        if (messages <= relayLimits.floodMessagesPerMinute) told = false;
        startedAt = nowMs;
        messages = 0;
      }
      messages += 1;
      if (told || messages <= relayLimits.floodMessagesPerMinute) return false;
      told = true;
      tellPhone(
        core,
        project,
        `More than ${relayLimits.floodMessagesPerMinute} messages in a minute. All are kept; the agent gets them in order.`,
        nowMs,
      );
      return true;
    },
  };
}
