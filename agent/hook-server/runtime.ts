// What every part of the turn runtime of one project shares: its surroundings, its state, and the view that the rules get.

import { randomBytes } from 'node:crypto';
import { identityOf } from '../../protocol/files.ts';
import { driverOf } from '../drivers/registry.ts';
import type { TurnView, WaitingMessage } from '../turns/view.ts';
import { currentStop } from './steering.ts';
import { restoreState, type TurnState, toStoredView } from './turn-state.ts';
import type { TurnsOptions } from './turn-types.ts';

export interface Waiting {
  messages: readonly WaitingMessage[];
  further: number;
}

export const noneWaiting: Waiting = { messages: [], further: 0 };

export interface Runtime {
  readonly options: TurnsOptions;
  readonly state: TurnState;
  viewOf(waiting: Waiting): TurnView;
  /** Unpredictable; one per hand-over. */
  nonce(): string;
  /** False = no place can be written. Never rejects. */
  storeView(): Promise<boolean>;
}

export function createRuntime(options: TurnsOptions): Runtime {
  const { project, inbox, clock } = options;
  const state = restoreState(project, options.restored, clock());
  function viewOf({ messages, further }: Waiting): TurnView {
    const { bound } = state;
    return {
      now: clock(),
      bound,
      boundAlive: bound?.pid !== undefined && options.isAlive(bound.pid),
      waiting: messages.filter((message) => !isGiven(message)),
      further,
      carried: state.carried,
      turnRuns: state.turnRuns,
      degraded: false,
      offered: state.offered?.text,
      continuations: state.continuations,
      maxContinuations: state.agent === undefined ? undefined : driverOf(state.agent)?.maxContinuations,
      stop: currentStop(project, inbox.foreignStop()),
      sprint: project.sprint,
      sprintText: options.sprintText,
      hold: {
        policy: options.holdPolicy,
        away: project.settings.get('away') ?? false,
        fromPhone: state.fromPhone,
        interactive: state.interactive ?? false,
      },
      answeredAt: state.answeredAt,
    };
  }

  /** The file of another program's message is its only state, and a full disk keeps it unread. Ours are in the journal. */
  function isGiven({ fromOwner, entry }: WaitingMessage): boolean {
    return !fromOwner && (entry.attempt ?? 0) === 0 && state.handed.has(identityOf(entry));
  }

  return {
    options,
    state,
    viewOf,
    nonce: () => randomBytes(4).toString('hex'),
    storeView: () => options.storeView(toStoredView(state, clock())),
  };
}
