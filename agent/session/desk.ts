// Whether a person sits at the bound terminal, and what the phone is told while they do: their own turns are withheld and summarised
// when they have left, what needs them comes after a delay. Called in the queue of the events, `look` alone also from a timer.

import type { TurnEvent } from '../../protocol/turn-events.ts';
import type { Runtime } from './runtime.ts';
import { isBusy, isPresent } from './state.ts';

export type Desk = ReturnType<typeof createDesk>;

/** How long a person at the terminal has, before the phone is told what waits there. */
const answerHereMs = 30_000;

export function createDesk(runtime: Runtime) {
  const { options, dispatch } = runtime;
  const { project, clock, log } = options;
  /** News of the terminal that a person there may answer first; lost only with a daemon that is killed, while the terminal shows them. */
  let pending: { key: string; text: string; at: number }[] = [];
  let lookedAt = 0;

  /** Asks the machine for the newest key. Never rejects. */
  async function look(): Promise<void> {
    const { bound } = runtime.state;
    lookedAt = clock();
    if (bound?.pid === undefined || !runtime.state.interactive) return;
    const at = await options.lastKeyAt(bound.pid);
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
    /** Whether the end of a turn that a person began at the terminal is kept from the phone. */
    withholds: () => follow() === 'never' || (follow() === 'auto' && isHere()),
    /** Something that waits at the terminal: told at once, or after a delay in which a person there may answer. Errors: those of `tell`. */
    async tell(key: string, text: string): Promise<void> {
      if (isHere()) pending.push({ key, text, at: clock() });
      else await options.tell(key, text);
    },
    /** The turn goes on: what waited at the terminal is over. */
    sees({ type }: TurnEvent): void {
      const goesOn = type === 'turnStart' || type === 'modelRequest' || type === 'toolEnd' || type === 'turnEnd';
      if (goesOn || type === 'sessionEnd') pending = [];
    },
    /** Called by the daemon's clock. `isWaiting` = something hangs on whether a person is there. */
    async check(isWaiting: boolean): Promise<void> {
      const { withheld } = project;
      const hasNeed = isWaiting || pending.length > 0 || withheld !== undefined;
      if (hasNeed || clock() - lookedAt >= idleLookMs) await look();
      const isGone = !isHere();
      // A key since then: the person has seen it, and may be at it.
      const isDue = ({ at }: { at: number }) => isGone || clock() - Math.max(at, runtime.state.seenAt) >= answerHereMs;
      if (!isBusy(runtime.state)) pending = [];
      const due = pending.filter(isDue);
      pending = pending.filter((each) => !due.includes(each));
      for (const { key, text } of due) await options.tell(key, text);
      // An error that nobody has looked at is told before the rest of the time is over.
      const isUnseen =
        withheld?.last.failed && runtime.state.seenAt <= withheld.last.at && clock() - withheld.last.at >= answerHereMs;
      if (withheld && follow() !== 'never' && (isGone || isUnseen)) {
        log('info', 'withheld turns told', { project: project.key, turns: withheld.turns });
        await options.tellWithheld();
      }
    },
    /** What waits for its delay is told now. Never rejects. */
    async flush(): Promise<void> {
      for (const { key, text } of pending.splice(0)) await options.tell(key, text).catch(() => {});
    },
  };
}

/** How old `status()` may be while nothing hangs on it. */
const idleLookMs = 30_000;

/** What the bound terminal is, looked at once. */
export async function findTerminal(runtime: Runtime, agent: string, pid: number | undefined): Promise<void> {
  const { options, dispatch } = runtime;
  if (runtime.state.interactive !== undefined) return;
  const interactive = pid !== undefined && (await options.isInteractive(pid, agent));
  const wakeable = interactive && (await options.canWake(pid, agent));
  dispatch({ type: 'terminalFound', agent, interactive, wakeable });
}
