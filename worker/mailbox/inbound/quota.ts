// The quota of the mailbox, and the notice to the phone when it is full.

import { relayLimits } from '../../../protocol/limits.ts';
import type { Core } from '../core.ts';
import { tellPhone } from '../outbound/queue.ts';
import { highestSeq } from '../tables/log.ts';
import { readProjects } from '../tables/projects.ts';
import { getMeta, setMeta } from '../tables/schema.ts';
import type { Accepted } from './accepted.ts';

/** Above the limit this many controls are still taken, so that a STOP gets in. */
export const controlReserve = 1_000;

/** Counts by two numbers for each project: every row above the cursor is there. */
export function hasQuota({ sql }: Core, reserve: number): boolean {
  if (sql.sizeBytes() > relayLimits.mailboxBytes) return false;
  const waiting = readProjects(sql).reduce((sum, row) => sum + highestSeq(sql, row) - row.cursor, 0);
  return waiting < relayLimits.mailboxMessages + reserve;
}

/** Tells the phone once, until the workstation has taken something. */
export function refuseAsFull(core: Core, project: number, nowMs: number): Accepted {
  if (getMeta(core.sql, 'full_told') === undefined) {
    setMeta(core.sql, 'full_told', String(nowMs));
    const text = 'The mailbox is full. New messages wait at the chat platform until the workstation has taken some.';
    tellPhone(core, project, text, nowMs);
  }
  return { kind: 'full' };
}
