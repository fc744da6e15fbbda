// What a hook did on the files alone, seen from the running turn; the journal has it already.

import type { SpoolRecord } from '../turns/spooled.ts';
import type { Ending } from './ending.ts';
import type { Runtime } from './runtime.ts';
import type { SprintRecord } from './sprint-record.ts';

export interface AdoptionParts {
  ending: Ending;
  sprints: SprintRecord;
  /** In its turn among the events; the view follows. */
  later(work: () => Promise<void>): void;
}

/** In its turn among the events and the other records: what one of them ends must have ended before the next begins. */
export function adoptSpooled(record: SpoolRecord, runtime: Runtime, parts: AdoptionParts): void {
  parts.later(() => adopt(record, runtime, parts));
}

async function adopt(
  record: SpoolRecord,
  { options, state }: Runtime,
  { ending, sprints }: AdoptionParts,
): Promise<void> {
  if (record.kind === 'handed') {
    const { tool, transcript, offset, session } = record;
    for (const identity of record.identities) state.handed.set(identity, record.at);
    const sameTurn = state.turnRuns && state.place !== undefined && state.bound?.id === session;
    state.carried = sameTurn ? [...state.carried, ...record.ids] : [...record.ids];
    state.turnRuns = true;
    state.offered = undefined;
    if (sameTurn) return;
    state.isReported = false;
    state.place = { tool, transcript: transcript ?? undefined, offset };
  } else if (record.kind === 'settled') {
    const { proved, unproved } = record;
    state.carried = state.carried.filter((id) => !proved.includes(id) && !unproved.includes(id));
    if (state.carried.length > 0) return;
    options.activity.ended(record.failed);
    state.turnRuns = false;
    state.offered = undefined;
    state.place = undefined;
  } else if (record.kind === 'stopped') {
    await sprints.end('stopped');
    await options.tell(`stopped_${record.at}`, 'Stopped by the hooks alone, while the daemon was away.');
  } else if (state.turnRuns && !record.apart) {
    state.isReported = true;
    if (state.place) await ending.endOpenTurn(state.place, { lagMs: 0 });
  }
}
