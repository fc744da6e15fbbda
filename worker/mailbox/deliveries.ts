// What a platform says later of a message that it had taken: that it arrived, or that the phone never got it, which is a dead letter.

import type { InboundEvent } from '../platform.ts';
import { type Accepted, stored } from './accepted.ts';
import type { Core } from './core.ts';
import { markArrived, markDead, readAwaited } from './outbox-rows.ts';
import { noteOutcome } from './outcomes.ts';

/** Of what is no longer kept, or was settled before, nothing is to be done. */
export function noteDelivery(core: Core, event: InboundEvent & { kind: 'delivery' }, nowMs: number): Accepted {
  const row = readAwaited(core.sql, event.ref);
  if (row === undefined || row.state !== 'sent') return stored(event.project);
  const { outcome } = event;
  if (outcome.kind === 'arrived') {
    markArrived(core.sql, row);
    return stored(row.project);
  }
  markDead(core.sql, row, outcome.code, outcome.reason, nowMs);
  core.counters.add('dead');
  noteOutcome(core, row, nowMs);
  return stored(row.project);
}
