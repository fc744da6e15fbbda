// The outcome of a key that a daemon posted: a row of the project's log, which the cursor acknowledges like every other row.

import { isEnd, type OutboxOutcome } from '../../../protocol/relay-api.ts';
import type { InboundEvent } from '../../platform.ts';
import type { Core } from '../core.ts';
import { appendRow } from '../tables/log.ts';
import { isOwnKey, markDead, type OutboxRow, progressClass, readAwaited, readParts, setRow } from '../tables/outbox.ts';
import type { Sql } from '../tables/sql.ts';

/**
 * Appends the outcome of a key that has no waiting part any more. Must run in the transaction that ended its last part.
 * True = the log has a new row. The relay's own messages have no outcome, nor has progress, which may be lost.
 */
export function noteOutcome(
  core: Core,
  { key, project, class: lane }: Pick<OutboxRow, 'key' | 'project' | 'class'>,
): boolean {
  if (isOwnKey(key) || lane === progressClass) return false;
  const outcome = readOutcome(core.sql, project, key);
  if (outcome === undefined || !isEnd(outcome)) return false;
  appendRow(core, project, { at: core.clock(), ref: '', kind: 'outcome', outcome });
  return true;
}

/** One state for all parts: waiting while any part waits, else dead when any part died. */
export function readOutcome(sql: Sql, project: number, key: string): OutboxOutcome | undefined {
  const rows = readParts(sql, project, key);
  if (rows.length === 0) return undefined;
  if (rows.some((row) => row.state === 'sending')) return { key, state: 'sending' };
  if (rows.some((row) => row.state === 'queued')) return { key, state: 'queued' };
  const dead = rows.find((row) => row.state === 'dead');
  const ref = rows.at(-1)?.ref;
  if (dead === undefined) return { key, state: 'sent', ...(ref ? { ref } : {}) };
  return { key, state: 'dead', error: { code: dead.error_code ?? 'rejected', reason: dead.error_reason ?? '' } };
}

/**
 * Applies a later delivery status of a message that the platform had taken: the message arrived, or it never reached the phone and is a
 * dead letter now. A message that is no longer kept, or was settled before, stays as it is. Returns the project of the message.
 */
export function noteDelivery(core: Core, event: InboundEvent & { kind: 'delivery' }): number {
  const row = readAwaited(core.sql, event.ref);
  if (row === undefined || row.state !== 'sent') return event.project;
  const { outcome } = event;
  if (outcome.kind === 'arrived') {
    setRow(core.sql, row, { call: '' });
  } else {
    markDead(core.sql, row, outcome, core.clock());
    core.counters.add('dead');
    noteOutcome(core, row);
  }
  return row.project;
}
