// Whether a call of the Bot API may have had its effect although nobody heard so.

import type { Stage } from './stage.ts';

type Call = Stage['sim']['calls'][number];

/** `relayKills` = epoch milliseconds. */
export function wasCut({ at, answer }: Call, relayKills: readonly number[]): boolean {
  const isUnderWay = relayKills.some((killedAt) => killedAt >= at - 1_000 && killedAt <= at + 5_000);
  return answer.status === 0 || answer.status >= 500 || isUnderWay;
}
