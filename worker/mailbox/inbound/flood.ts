// Tells the phone once when a chat floods. The messages of a flood are stored all the same.

import { relayLimits } from '../../../protocol/limits.ts';
import type { Core } from '../core.ts';
import { tellPhone } from '../outbound/queue.ts';

const { floodMessagesPerMinute } = relayLimits;
const minuteMs = 60_000;

/** Counts a message; true = the phone has just been told. In memory: an object does not hibernate during a flood. */
export function createFloodNotice(core: Core): (project: number, nowMs: number) => boolean {
  let startedAt = 0;
  let messages = 0;
  let told = false;
  return (project, nowMs) => {
    if (nowMs - startedAt >= minuteMs) {
      // A quiet minute ends the flood; the phone is told of the next one again.
      if (messages <= floodMessagesPerMinute) told = false;
      startedAt = nowMs;
      messages = 0;
    }
    messages += 1;
    if (told || messages <= floodMessagesPerMinute) return false;
    told = true;
    const text = `More than ${floodMessagesPerMinute} messages in a minute. All are kept; the agent gets them in order.`;
    tellPhone(core, project, text, nowMs);
    return true;
  };
}
