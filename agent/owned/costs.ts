// What a session that the daemon owns needs and how it is billed, by the name of the agent, in words for people. The hooks of a session
// in one's own terminal need none of it.

import type { Texts } from '../../protocol/texts.ts';

export interface OwnedCost {
  needs: string;
  cost: string;
}

/** An agent that is in no table is a command of the config. */
export function costOf(agent: string, { costs }: Texts['owned']): OwnedCost {
  const known: Readonly<Record<string, OwnedCost>> = costs;
  return (Object.hasOwn(costs, agent) ? known[agent] : undefined) ?? costs.any;
}
