// What can go wrong with the process of an owned session, at the moments that matter: before the first sign of the model, behind it, while a tool runs,
// while the phone is asked.

import type { Fault, FaultParts } from '../fault.ts';
import { killFor } from '../parts.ts';
import type { Moment } from './strand.ts';

const moments: readonly { weight: number; of: Moment }[] = [
  { weight: 4, of: 'now' },
  { weight: 3, of: 'prompt' },
  { weight: 2, of: 'runs' },
  { weight: 3, of: 'asked' },
];

/** A little later, so that what the moment began is under way. */
async function meet({ owned, random }: FaultParts): Promise<void> {
  const { of } = random.weighted(moments);
  const laterMs = random.chance(0.5) ? random.int(0, 40) : random.int(40, 600);
  await owned.moment(of);
  await new Promise((resolve) => setTimeout(resolve, laterMs));
}

export const agentFaults: readonly Fault[] = [
  {
    name: 'kill -9 of the agent',
    weight: 5,
    of: 'owned',
    async run(parts) {
      await meet(parts);
      return parts.owned.killAgent();
    },
  },
  {
    name: 'kill -9 of the daemon at work',
    weight: 5,
    of: 'owned',
    async run(parts) {
      const downMs = parts.random.int(0, 1_000);
      await meet(parts);
      await killFor([parts.stage.daemon], downMs);
    },
  },
  {
    name: 'kill -9 of the agent and the daemon',
    weight: 4,
    of: 'owned',
    async run(parts) {
      const { stage, random, owned } = parts;
      const isAgentFirst = random.chance(0.5);
      const gapMs = random.pick([0, 0, 20, 200]);
      const downMs = random.int(0, 800);
      await meet(parts);
      const isKilled = isAgentFirst && owned.killAgent();
      if (isAgentFirst) await new Promise((resolve) => setTimeout(resolve, gapMs));
      await stage.daemon.kill9();
      const isKilledNow = !isAgentFirst && owned.killAgent();
      await killFor([stage.daemon], downMs);
      return isKilled || isKilledNow;
    },
  },
];
