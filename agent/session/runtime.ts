// What every part of the turn runtime of one project shares: its surroundings, its state, and the view that the rules get.

import { randomBytes } from 'node:crypto';
import { driverOf } from '../drivers/registry.ts';
import type { ProjectState } from '../journal/state.ts';
import type { StopView, TurnView, WaitingMessage } from '../turns/view.ts';
import { isPresent, next, type StateEvent, type TurnState } from './state.ts';
import { restoreState, toStoredTurn } from './stored-turn.ts';
import type { TurnsOptions } from './types.ts';

export type Waiting = Pick<TurnView, 'further'> & { messages: readonly WaitingMessage[] };

export const noneWaiting: Waiting = { messages: [], further: 0 };

export interface Runtime {
  readonly options: TurnsOptions;
  /** As it is at the moment of the call: it is never kept across an `await`. */
  readonly state: TurnState;
  /** The only way to change the state. */
  dispatch(event: StateEvent): void;
  viewOf(waiting: Waiting): TurnView;
  /** Unpredictable; one per hand-over. */
  nonce(): string;
  /** Journals the turn as it is, if it has changed. Never rejects: what a full disk keeps out follows with the next change. */
  keepTurn(): Promise<void>;
}

export function createRuntime(options: TurnsOptions): Runtime {
  const { project, journal, inbox, clock, log } = options;
  let state = restoreState(project, clock());
  let keeping = 0;

  /** What the hooks of the host can do; an owned session has none. */
  const driver = () => (state.agent === undefined || state.bound?.owned ? undefined : driverOf(state.agent));

  function viewOf({ messages, further }: Waiting): TurnView {
    const { bound, turn, chain } = state;
    const away = project.settings.get('away') ?? false;
    return {
      now: clock(),
      bound,
      boundAlive: bound?.owned === true || (bound?.pid !== undefined && options.isAlive(bound.pid)),
      waiting: messages,
      further,
      turnRuns: turn.phase === 'running',
      degraded: false,
      offered: turn.phase === 'offered' ? turn.text : undefined,
      stale: state.stale,
      continuations: chain.length,
      maxContinuations: driver()?.maxContinuations,
      takesNext: chain.quiet < (driver()?.maxQuietContinuations ?? Number.POSITIVE_INFINITY),
      stop: currentStop(project, inbox.foreignStop()),
      canHalt: driver()?.canHalt !== false,
      sprint: project.sprint,
      sprintText: options.sprintText,
      hold: {
        policy: options.holdPolicy,
        away,
        fromPhone: chain.fromPhone && state.seenAt <= state.startedAt,
        nobody: !isPresent(state, { ...options, away, now: clock() }),
        interactive: state.interactive ?? false,
        queues: state.queues,
      },
      answeredAt: state.answeredAt,
    };
  }

  async function keepTurn(): Promise<void> {
    const turn = toStoredTurn(state);
    if (keeping === 0 && JSON.stringify(turn) === JSON.stringify(project.turn)) return;
    keeping += 1;
    await journal
      .append([{ t: 'turn', p: project.key, at: clock(), turn }])
      .catch((cause) => log('warn', 'turn not kept', { project: project.key, error: (cause as Error).message }));
    keeping -= 1;
  }

  return {
    options,
    get state() {
      return state;
    },
    dispatch(event) {
      state = next(state, event);
    },
    viewOf,
    nonce: () => randomBytes(4).toString('hex'),
    keepTurn,
  };
}

/** The STOP that counts: the newest of the phone, an abort before a stop, else one of another program in the file. */
export function currentStop(project: ProjectState, foreign: StopView | undefined): StopView | undefined {
  let found: StopView | undefined;
  for (const { id, control } of project.controls.values()) {
    if (control.type !== 'stop' && control.type !== 'abort') continue;
    if (found?.type !== 'abort' || control.type === 'abort') {
      found = { id, type: control.type, text: control.text, fromOwner: true };
    }
  }
  return found ?? foreign;
}
