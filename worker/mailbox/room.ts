// Whether the mailbox takes one more message.

import { relayLimits } from '../../protocol/limits.ts';
import type { Core } from './core.ts';
import { highestSeq } from './log.ts';
import { readProjects } from './projects.ts';

/** Counts what waits: everything above the cursors is there, so two numbers per project say it. */
export function hasRoom(core: Core, reserve: number): boolean {
  if (core.sql.sizeBytes() > relayLimits.mailboxBytes) return false;
  const waiting = readProjects(core.sql).reduce((sum, row) => sum + highestSeq(core.sql, row) - row.cursor, 0);
  if (waiting >= relayLimits.mailboxMessages + reserve) return false;
  return true;
}
