// What became of an event, and the two things that most of them do: a row of the log, or word to the phone that there is no room.

import type { Core } from './core.ts';
import { appendRow, highestSeq } from './log.ts';
import { tellPhone } from './outbox.ts';
import { openProject } from './projects.ts';
import { getMeta, setMeta } from './schema.ts';

export type Accepted =
  /** `wakeAt` = the alarm this needs; `sends` = something waits to be sent; `counted` = a message. */
  | {
      kind: 'stored';
      project: number;
      wakeAt: number | null;
      sends: boolean;
      counted: boolean;
    }
  | { kind: 'duplicate' }
  | { kind: 'full' };

/** Beyond the limit a STOP still gets in. */
export const controlReserve = 1_000;

export function stored(
  project: number,
  needs: Partial<Omit<Accepted & { kind: 'stored' }, 'kind' | 'project'>> = {},
): Accepted {
  return { kind: 'stored', project, wakeAt: null, sends: false, counted: false, ...needs };
}

export function append(core: Core, project: number, row: Parameters<typeof appendRow>[3], nowMs: number): number {
  const seq = highestSeq(core.sql, openProject(core.sql, project)) + 1;
  appendRow(core, project, seq, row, nowMs);
  return seq;
}

/** The phone is told once, until the workstation has taken something. */
export function full(core: Core, project: number, nowMs: number): Accepted {
  if (getMeta(core.sql, 'full_told') === undefined) {
    setMeta(core.sql, 'full_told', String(nowMs));
    const text = 'The mailbox is full. New messages wait at the chat platform until the workstation has taken some.';
    tellPhone(core, project, text, nowMs);
  }
  return { kind: 'full' };
}
