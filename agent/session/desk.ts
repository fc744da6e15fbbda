// Whether a person sits at the bound terminal, and what the phone is told while they do: their own turns are withheld and summarised
// when they have left, an error comes after a delay. Called in the queue of the events, `look` alone also from a timer.

import type { Runtime } from './runtime.ts';
import { isPresent } from './state.ts';

export type Desk = ReturnType<typeof createDesk>;

/** How long a person at the terminal has, before the phone is told of an error there. */
const answerHereMs = 30_000;

export function createDesk(runtime: Runtime) {
  const { options, dispatch } = runtime;
  const { project, clock, log } = options;
  let lookedAt = 0;

  /** Asks the machine for the newest key. Never rejects. */
  async function look(): Promise<void> {
    const { bound } = runtime.state;
    lookedAt = clock();
    if (bound?.pid === undefined || !runtime.state.interactive) return;
    const at = await options.lastKeyAt(bound.pid, runtime.state.agent);
    if (at !== undefined && runtime.state.bound?.pid === bound.pid) dispatch({ type: 'personSeen', at });
  }

  function follow() {
    return project.follow ?? options.follow;
  }

  const isHere = () => isPresent(runtime.state, { ...options, away: isAway(), now: clock() });
  const isAway = () => project.settings.get('away') ?? false;

  return {
    look,
    isPresent: isHere,
    isAway,
    follow,
    /** Whether what a person does at the terminal, the end of a turn among it, is kept from the phone. */
    withholds: () => follow() === 'never' || (follow() === 'auto' && isHere()),
    /** Called by the daemon's clock. `isWaiting` = something hangs on whether a person is there. */
    async check(isWaiting: boolean): Promise<void> {
      const { withheld } = project;
      const hasNeed = isWaiting || project.dialog?.rev === 0 || withheld !== undefined;
      if (hasNeed || clock() - lookedAt >= idleLookMs) await look();
      const isGone = !isHere();
      // An error that nobody has looked at is told before the rest of the time is over.
      const isUnseen =
        withheld?.last.failed && runtime.state.seenAt <= withheld.last.at && clock() - withheld.last.at >= answerHereMs;
      if (withheld && follow() !== 'never' && (isGone || isUnseen)) {
        log('info', 'withheld turns told', { project: project.key, turns: withheld.turns });
        await options.tellWithheld();
      }
    },
  };
}

/** How old `status()` may be while nothing hangs on it. */
const idleLookMs = 30_000;

/** What the bound terminal is, looked at once. */
export async function findTerminal(runtime: Runtime, agent: string, pid: number | undefined): Promise<void> {
  const { options, dispatch } = runtime;
  if (runtime.state.interactive !== undefined) return;
  if (runtime.state.bound?.owned) {
    dispatch({ type: 'terminalFound', agent, interactive: false, wakeable: false, queues: false });
    return;
  }
  const interactive = pid !== undefined && (await options.isInteractive(pid, agent));
  const queues = interactive && ((await options.queue?.reaches(agent)) ?? false);
  const wakeable = interactive && (queues || (await options.canWake(pid, agent)));
  dispatch({ type: 'terminalFound', agent, interactive, wakeable, queues });
}
