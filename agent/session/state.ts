// What the daemon knows about the bound session and its running turn. One object, changed only by turns.ts and the modules
// that it gives it to; a line of the journal is its memory for a restart.

import type { StoredTurn } from '../journal/records.ts';
import type { Hand, ProjectState } from '../journal/state.ts';
import type { BoundSession, TurnPlace } from '../turns/view.ts';

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
  /** The end of the turn is told under this id, and what the turn carried is still to be settled. */
  told: string | undefined;
  /** The session file of the bound session, and up to where its turns are told, in bytes. */
  toldTo: { transcript: string; at: number } | undefined;
  /** Hooks may have worked alone since the daemon before this one, and no prompt came yet. */
  isFresh: boolean;
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
}

export function restoreState(project: ProjectState, now: number): TurnState {
  const { turn } = project;
  const given = givenIn(project);
  const offered = turn?.offered === undefined ? undefined : { text: turn.offered, at: now };
  return {
    bound: turn?.bound && { id: turn.bound.id, pid: turn.bound.pid },
    agent: undefined,
    interactive: undefined,
    turnRuns: offered === undefined && ((turn?.runs ?? false) || given.length > 0),
    carried: given.map(({ id }) => id),
    place: turn?.place ? { ...turn.place, transcript: turn.place.transcript } : placeOf(given[0]?.hand),
    told: turn?.told,
    toldTo: turn?.toldTo,
    isFresh: true,
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
  };
}

/** What turns carry, in the order in which it was given. */
export function givenIn(project: ProjectState): { id: string; hand: Hand }[] {
  return [...project.messages.values()]
    .flatMap(({ row, phase, hand }) =>
      hand && (phase === 'handed' || phase === 'injected') ? { id: row.id, hand } : [],
    )
    .sort((a, b) => a.hand.offset - b.hand.offset);
}

/** Where a turn began that nobody but the hand-over knows of. */
export function placeOf(hand: Hand | undefined): TurnPlace | undefined {
  return hand && { tool: hand.tool, transcript: hand.transcript ?? undefined, offset: hand.offset };
}

export function toStoredTurn({ bound, turnRuns, place, offered, told, toldTo }: TurnState): StoredTurn {
  return { bound, runs: turnRuns, place, offered: offered?.text, told, toldTo };
}

/** Something of the coding agent goes on that a STOP can end. */
export function isBusy(state: TurnState): boolean {
  return state.turnRuns || state.offered !== undefined;
}
