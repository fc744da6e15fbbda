// What becomes of an event: the quota of the mailbox, and what the phone is told when more comes than fits or than is usual.

import { relayLimits } from '../../../protocol/limits.ts';
import type { Control } from '../../../protocol/log.ts';
import type { Core } from '../core.ts';
import { textsOf } from '../language.ts';
import { tellPhone } from '../outbound/queue.ts';
import { appendRow, highestSeq } from '../tables/log.ts';
import { readProjects } from '../tables/projects.ts';
import { getMeta, setMeta } from '../tables/schema.ts';

export type Accepted =
  /** `sends` = something waits to be sent; `counted` = a message. */
  { kind: 'stored'; project: number; sends: boolean; counted: boolean } | { kind: 'duplicate' } | { kind: 'full' };

export function stored(project: number, { sends = false, counted = false } = {}): Accepted {
  return { kind: 'stored', project, sends, counted };
}

/** Above the limit this many controls are still taken, so that a STOP gets in. */
export const controlReserve = 1_000;

/** Counts by two numbers for each project: every row above the cursor is there. */
export function hasQuota({ sql }: Core, reserve = 0): boolean {
  if (sql.sizeBytes() > relayLimits.mailboxBytes) return false;
  const waiting = readProjects(sql).reduce((sum, row) => sum + highestSeq(sql, row) - row.cursor, 0);
  return waiting < relayLimits.mailboxMessages + reserve;
}

/** Tells the phone once, until the workstation has taken something. */
export function refuseAsFull(core: Core, project: number): Accepted {
  if (getMeta(core.sql, 'full_told') === undefined) {
    setMeta(core.sql, 'full_told', String(core.clock()));
    tellPhone(core, project, textsOf(core).relay.full);
  }
  return { kind: 'full' };
}

/** Appends an order for the daemon. */
export function storeControl(
  core: Core,
  event: { project: number; at: number; ref: string },
  control: Control,
): Accepted {
  const { project, at, ref } = event;
  if (!hasQuota(core, controlReserve)) return refuseAsFull(core, project);
  appendRow(core, project, { at, ref, kind: 'control', control });
  return stored(project);
}

const { floodMessagesPerMinute } = relayLimits;
const minuteMs = 60_000;

/** Counts a message of a flood, all of which are stored; true = the phone has just been told. In memory: an object does not hibernate during a flood. */
export function createFloodNotice(core: Core): (project: number) => boolean {
  let startedAt = 0;
  let messages = 0;
  let told = false;
  return (project) => {
    const nowMs = core.clock();
    if (nowMs - startedAt >= minuteMs) {
      // A quiet minute ends the flood; the phone is told of the next flood again.
      if (messages <= floodMessagesPerMinute) told = false;
      startedAt = nowMs;
      messages = 0;
    }
    messages += 1;
    if (told || messages <= floodMessagesPerMinute) return false;
    told = true;
    tellPhone(core, project, textsOf(core).relay.flood(floodMessagesPerMinute));
    return true;
  };
}
