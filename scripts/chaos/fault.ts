// The words of the table of faults.

import type { Actors } from './actors.ts';
import type { Ledger } from './ledger.ts';
import type { OwnedStrand } from './owned/strand.ts';
import type { Random } from './random.ts';
import type { Stage } from './stage.ts';

/** Who uses the path while it breaks: messages both ways in one project, tool calls that must be asked in another, a session that the daemon runs in a third. */
export const strands = ['messages', 'approvals', 'owned'] as const;

export type Strand = (typeof strands)[number];

export interface FaultParts {
  stage: Stage;
  ledger: Ledger;
  actors: Actors;
  owned: Pick<OwnedStrand, 'killAgent' | 'moment'>;
  /** Drawn from at the moment of planning, never after something was waited for. */
  random: Random;
}

export interface Fault {
  name: string;
  weight: number;
  /** Breaks only what this strand uses. */
  of?: Strand;
  /** Ends when what it broke works again, or will by itself. False = there was nothing to break. */
  run(parts: FaultParts): Promise<unknown>;
}
