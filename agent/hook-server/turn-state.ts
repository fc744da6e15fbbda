// What the daemon knows about the bound session and its running turn. One object, changed only by turns.ts and the modules
// that it gives it to; view.json is its memory for a restart and for the hook fallback.

import { fileLimits } from '../../protocol/limits.ts';
import type { ProjectState } from '../journal/state.ts';
import type { BoundSession, StoredView, TurnPlace } from '../turns/view.ts';

export interface TurnState {
  bound: BoundSession | undefined;
  /** The coding agent of that session; undefined = no event of it yet. */
  agent: string | undefined;
  /** A person's terminal, as far as we can see; undefined = not looked yet. */
  interactive: boolean | undefined;
  turnRuns: boolean;
  /** Ids of the phone's messages that the running, or the offered, turn carries. */
  carried: string[];
  /** Where the running, or the offered, turn begins in the session file. */
  place: TurnPlace | undefined;
  /** A hook alone has reported the answer of the running turn; what the turn carried is still to be settled. */
  isReported: boolean;
  /** The next prompt that we gave, until the host starts it. */
  offered: { text: string; at: number } | undefined;
  /** The running turn began with a prompt of ours. */
  continued: boolean;
  /** The running turn has made a model request. */
  modelSeen: boolean;
  toolCalls: number;
  /** Turns that we started since the last prompt of a person. */
  continuations: number;
  /** What the host counts as the answer so far: it joins those of a chain of continuations. */
  chainAnswer: string;
  /** We gave the prompt of the running turn, or of one before it in its chain: nobody typed at the desk since. */
  fromPhone: boolean;
  startedAt: number;
  answeredAt: number;
  lastEventAt: number;
  silenceTold: boolean;
  /** The end of a turn is held. */
  held: { session: string; offset: number } | undefined;
  /** identity -> when, for the fallback. */
  handed: Map<string, number>;
}

export function restoreState(project: ProjectState, restored: StoredView | undefined, now: number): TurnState {
  // The view is written after the answer; what was handed over is in the journal before it, and must not be forgotten.
  const interrupted = [...project.messages.values()].filter(({ phase }) => phase === 'handed' || phase === 'injected');
  const isViewed = interrupted.every(({ row }) => restored?.carried.includes(row.id));
  const offered = isViewed && restored?.offered !== undefined ? { text: restored.offered, at: now } : undefined;
  return {
    bound: restored?.bound,
    agent: undefined,
    interactive: undefined,
    turnRuns: offered === undefined && ((restored?.turnRuns ?? false) || interrupted.length > 0),
    carried: interrupted.map(({ row }) => row.id),
    place: isViewed ? restored?.place : undefined,
    isReported: restored?.reported ?? false,
    offered,
    continued: false,
    modelSeen: false,
    toolCalls: 0,
    continuations: 0,
    chainAnswer: '',
    fromPhone: offered !== undefined,
    startedAt: now,
    answeredAt: 0,
    lastEventAt: now,
    silenceTold: false,
    held: undefined,
    handed: new Map((restored?.handed ?? []).map((identity) => [identity, now])),
  };
}

export function toStoredView(state: TurnState, now: number): StoredView {
  const { bound, carried, turnRuns, place, isReported, offered, held, handed } = state;
  for (const [identity, at] of handed) if (now - at > fileLimits.settledKeptMs) handed.delete(identity);
  return {
    version: 1,
    at: now,
    bound,
    owner: [],
    handed: [...handed.keys()],
    carried,
    turnRuns,
    place,
    ...(isReported ? { reported: true } : {}),
    offered: offered?.text,
    held,
  };
}

/** Something of the coding agent goes on that a STOP can end. */
export function isBusy(state: TurnState): boolean {
  return state.turnRuns || state.offered !== undefined;
}
