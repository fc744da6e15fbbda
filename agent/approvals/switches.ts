// What keeps the coding agent from running the gates of wa-sync although approvals are on: told to the phone when it appears.

import { createHash } from 'node:crypto';
import type { Log } from '../log.ts';

export interface SwitchesOptions {
  /** A sentence for each. Never rejects. */
  look(): Promise<string[]>;
  tell(key: string, text: string): void;
  clock: () => number;
  log: Log;
}

export function createSwitches({ look, tell, clock, log }: SwitchesOptions) {
  let known: readonly string[] = [];
  return {
    /** For as long as approvals are on. */
    async look(): Promise<void> {
      const found = await look();
      for (const problem of found.filter((each) => !known.includes(each))) {
        log('error', 'gates switched off', { problem });
        const hash = createHash('sha256').update(problem).digest('hex').slice(0, 20);
        tell(`switches_${hash}_${clock().toString(36)}`, `⚠ Approvals are on, but ${problem}. ${whatToDo}`);
      }
      known = found;
    },
    problems: (): readonly string[] => known,
  };
}

const whatToDo =
  'So tools can run there without being asked. Remove it in an editor and start the coding agent anew, or let it work elsewhere.';
