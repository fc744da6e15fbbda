// Tells the phone once how a message will be picked up that nothing gives to the agent: no turn runs, none is held, nobody polls.
// Called by the daemon's clock: what wakes the agent by itself, or a turn that begins anyway, has its time before.

import { pickUpText } from '../turns/desk.ts';
import type { Runtime } from './runtime.ts';
import { isBusy } from './state.ts';

/** So long a message has waited at an idle agent. */
const patienceMs = 5_000;

export function createPickUp(runtime: Runtime, isHeld: () => boolean): () => Promise<void> {
  const { options } = runtime;
  const { project, clock } = options;
  let waitsSince: number | undefined;
  /** Of this stretch, which begins with its last turn, the phone knows. */
  let toldOf: number | undefined;

  return async () => {
    const { state } = runtime;
    const id = oldest();
    if (id === undefined || isBusy(state) || isHeld() || options.isPolled()) {
      waitsSince = undefined;
      return;
    }
    waitsSince ??= clock();
    if (toldOf === state.startedAt || clock() - waitsSince < patienceMs) return;
    toldOf = state.startedAt;
    const text = pickUpText({
      isOpen: state.bound !== undefined,
      isAway: project.settings.get('away') ?? false,
      policy: options.holdPolicy,
      nudges: options.nudge !== undefined,
    });
    // Made of the message, so that a restart does not tell it again.
    await options.tell(`waits_${id}`, text, id);
  };

  /** Who sent `/later`, or is parked by a STOP, has been told. */
  function oldest(): string | undefined {
    for (const { row, parked, later } of project.waiting.values()) if (parked !== 'parked' && !later) return row.id;
    return undefined;
  }
}
