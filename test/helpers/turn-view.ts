// What the turn rules are shown, with nothing in it but what a test names.

import type { TurnView } from '../../agent/turns/view.ts';

/** A bound session at the keyboard, nothing waits, nobody is away. */
export function turnView(changes: Partial<TurnView> & Pick<TurnView, 'now'>): TurnView {
  return {
    bound: { id: 's1', pid: 100 },
    boundAlive: true,
    waiting: [],
    further: 0,
    turnRuns: false,
    degraded: false,
    offered: undefined,
    continuations: 0,
    stop: undefined,
    sprint: undefined,
    sprintText: undefined,
    hold: { policy: 'auto', away: false, fromPhone: false, nobody: false, interactive: true },
    answeredAt: 0,
    ...changes,
  };
}
