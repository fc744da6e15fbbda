// What the daemon knows about the bound session and its turn, and `next`, the one function that changes it. Pure.

import type { BoundSession, TurnPlace } from '../turns/view.ts';

interface OpenTurn {
  /** Where it begins in the session file. */
  readonly place: TurnPlace;
  /** Ids of the phone's messages in it. */
  readonly carried: readonly string[];
  /** It has made a model request. */
  readonly modelSeen: boolean;
  /** Its end is told under this id, and what it carries is still to be settled. */
  readonly told?: string | undefined;
}

export type Turn =
  | { readonly phase: 'idle' }
  /** The next prompt was given, and the host has not started it yet. */
  | (OpenTurn & {
      readonly phase: 'offered';
      readonly text: string;
      readonly at: number;
      /** It stands in the queue of the host, which begins it whatever else happens meanwhile. */
      readonly queued?: boolean | undefined;
    })
  /** `continued`: it began with a prompt of wa-sync. */
  | (OpenTurn & { readonly phase: 'running'; readonly continued: boolean; readonly toolCalls: number });

/** Turns in a row that wa-sync started since the last prompt of a person. */
interface Chain {
  readonly length: number;
  /** Of them, those since the last tool. */
  readonly quiet: number;
  /** What the host counts as the answer so far: it joins those of a chain. */
  readonly answer: string;
  /** A prompt of wa-sync began one of them, or a nudge: nobody typed a prompt at the terminal since. */
  readonly fromPhone: boolean;
}

export interface TurnState {
  readonly bound: BoundSession | undefined;
  /** The coding agent of that session; undefined = no event of it yet. */
  readonly agent: string | undefined;
  /** A person's terminal, as far as the daemon can see; undefined = not looked yet. */
  readonly interactive: boolean | undefined;
  /** wa-sync can type there; undefined = not looked yet. */
  readonly wakeable: boolean | undefined;
  /** It takes prompts from a queue, so nothing has to wait for the phone. */
  readonly queues: boolean;
  /** The newest sign of a person in that terminal, a key or a prompt; 0 = none seen. */
  readonly seenAt: number;
  readonly turn: Turn;
  /** Prompts in the queue of the host whose messages went another way: they must not begin a turn. The newest last. */
  readonly stale: readonly string[];
  readonly chain: Chain;
  /** The session file of the bound session, and up to where its turns are told, in bytes. */
  readonly toldTo: { readonly transcript: string; readonly at: number } | undefined;
  /** Hooks may have worked alone since the daemon before this one, and no turn began yet. */
  readonly isFresh: boolean;
  /** Of the running turn, or of the last one. */
  readonly startedAt: number;
  readonly answeredAt: number;
  readonly lastEventAt: number;
}

export type StateEvent =
  | { type: 'bound'; session: BoundSession; toldTo: TurnState['toldTo'] }
  | { type: 'unbound' }
  /** A hook of the bound session called. */
  | { type: 'called'; agent: string; at: number }
  /** What the terminal of the bound session is, which stays as it is. */
  | { type: 'terminalFound'; agent: string; interactive: boolean; wakeable: boolean; queues: boolean }
  /** A person pressed a key there, or typed a prompt. */
  | { type: 'personSeen'; at: number }
  | { type: 'toolEnded' }
  /** The model was asked, or has answered. */
  | { type: 'modelSeen' }
  /** A prompt that was typed began a turn; `nudged` = by wa-sync, `byHost` = by nobody. */
  | { type: 'turnStarted'; place: TurnPlace; at: number; nudged: boolean; byHost?: true | undefined }
  /** The host began the turn of the prompt that was offered. */
  | { type: 'turnContinued'; at: number }
  /** A turn that began without the daemon, or what hooks alone gave to the one that runs. */
  | { type: 'turnFound'; place: TurnPlace; ids: readonly string[] }
  | { type: 'offered'; text: string; place: TurnPlace; at: number; queued?: boolean }
  /** What was offered may stand in the queue of the host all the same. */
  | { type: 'notQueued'; before: TurnState }
  /** The open turn carries these. Where none is known to run, one runs from `place` on: its hook has asked. */
  | { type: 'given'; ids: readonly string[]; place: TurnPlace }
  | { type: 'takenBack'; ids: readonly string[] }
  /** `id` undefined = the end of what runs now is still to be told. */
  | { type: 'endTold'; id: string | undefined }
  | { type: 'toldUpTo'; transcript: string; at: number }
  /** `answeredAt` undefined = without an answer. */
  | { type: 'turnClosed'; answer: string; answeredAt: number | undefined }
  /** What happened to the turn since `before` did not happen after all. */
  | { type: 'reopened'; before: TurnState };

export function next(state: TurnState, event: StateEvent): TurnState {
  const { turn, chain } = state;
  switch (event.type) {
    case 'bound': {
      // /clear and resume give the same process a new session.
      const isSame = event.session.pid !== undefined && event.session.pid === state.bound?.pid;
      const { interactive, wakeable, queues, seenAt } = isSame ? state : unknownTerminal;
      return { ...state, bound: event.session, toldTo: event.toldTo, interactive, wakeable, queues, seenAt };
    }
    case 'unbound':
      return { ...state, bound: undefined };
    case 'called':
      return { ...state, agent: event.agent, lastEventAt: event.at };
    case 'terminalFound':
      return {
        ...state,
        agent: event.agent,
        interactive: event.interactive,
        wakeable: event.wakeable,
        queues: event.queues,
      };
    case 'personSeen':
      return { ...state, seenAt: Math.max(state.seenAt, event.at) };
    case 'toolEnded':
      return turn.phase === 'running'
        ? { ...state, turn: { ...turn, toolCalls: turn.toolCalls + 1 }, chain: { ...chain, quiet: 0 } }
        : state;
    case 'modelSeen':
      return turn.phase === 'idle' ? state : { ...state, turn: { ...turn, modelSeen: true } };
    case 'turnStarted': {
      const begun = { ...state, isFresh: false, startedAt: event.at };
      return {
        ...begun,
        turn: running(event.place, []),
        chain: {
          length: 0,
          quiet: 0,
          answer: '',
          fromPhone: event.nudged || (event.byHost === true && chain.fromPhone),
        },
      };
    }
    case 'turnContinued': {
      if (turn.phase !== 'offered') return state;
      const continued = { ...running(turn.place, turn.carried), continued: true };
      return { ...state, isFresh: false, startedAt: event.at, turn: continued };
    }
    case 'turnFound': {
      const found = turn.phase === 'running' ? turn : running(placeIn(state) ?? event.place, carriedBy(state));
      const place = earlier(found.place, event.place);
      return { ...state, turn: { ...found, place, modelSeen: true, carried: union(found.carried, event.ids) } };
    }
    case 'offered': {
      const { text, place, at, queued } = event;
      const offered: Turn = { phase: 'offered', text, place, at, queued, carried: carriedBy(state), modelSeen: false };
      return {
        ...state,
        turn: offered,
        chain: { ...chain, length: chain.length + 1, quiet: chain.quiet + 1, fromPhone: true },
      };
    }
    case 'given': {
      const open = turn.phase === 'idle' ? { ...running(event.place, []), modelSeen: true } : turn;
      return { ...state, turn: { ...open, carried: union(open.carried, event.ids) } };
    }
    case 'takenBack': {
      if (turn.phase === 'idle') return state;
      return { ...state, turn: { ...turn, carried: turn.carried.filter((id) => !event.ids.includes(id)) } };
    }
    case 'endTold':
      return turn.phase === 'idle' ? state : { ...state, turn: { ...turn, told: event.id } };
    case 'toldUpTo':
      return { ...state, toldTo: { transcript: event.transcript, at: event.at } };
    case 'turnClosed': {
      const { answer, answeredAt = state.answeredAt } = event;
      return { ...state, answeredAt, turn: { phase: 'idle' }, chain: { ...chain, answer }, stale: staleAfter(state) };
    }
    case 'notQueued':
      return { ...state, turn: event.before.turn, chain: event.before.chain, stale: staleAfter(state) };
    case 'reopened':
      return { ...state, turn: event.before.turn, chain: event.before.chain };
  }
}

const maxStale = 4;

function staleAfter({ turn, stale }: TurnState): readonly string[] {
  return turn.phase === 'offered' && turn.queued ? [...stale, turn.text].slice(-maxStale) : stale;
}

export const unknownTerminal = { interactive: undefined, wakeable: undefined, queues: false, seenAt: 0 };

export function running(place: TurnPlace, carried: readonly string[]): Extract<Turn, { phase: 'running' }> {
  return { phase: 'running', place, carried, continued: false, modelSeen: false, toolCalls: 0 };
}

/** A turn began no later than what it carries was given: the proof is read from there. */
function earlier(place: TurnPlace, other: TurnPlace): TurnPlace {
  return other.transcript === place.transcript && other.offset < place.offset ? other : place;
}

function union(ids: readonly string[], more: readonly string[]): readonly string[] {
  return [...new Set([...ids, ...more])];
}

/** Something of the coding agent goes on that a STOP can end. */
export function isBusy({ turn }: TurnState): boolean {
  return turn.phase !== 'idle';
}

export function carriedBy({ turn }: TurnState): readonly string[] {
  return turn.phase === 'idle' ? [] : turn.carried;
}

/** Undefined = no turn is open. */
export function placeIn({ turn }: TurnState): TurnPlace | undefined {
  return turn.phase === 'idle' ? undefined : turn.place;
}

/** Of `presence.awayAfter`. */
export interface Presence {
  /** 0 = a person is there until they say that they are away. */
  awayAfterMs: number;
  /** The owner has said so. */
  away: boolean;
  now: number;
}

/** A person sits at the bound terminal, as far as keys and prompts tell. */
export function isPresent({ bound, interactive, seenAt }: TurnState, { awayAfterMs, away, now }: Presence): boolean {
  if (!bound || !interactive || away) return false;
  return awayAfterMs === 0 || now - seenAt < awayAfterMs;
}

/** A prompt of wa-sync began the open turn, or was to begin it, and never became a model request. */
export function isLost({ turn }: TurnState): boolean {
  return (turn.phase === 'offered' || (turn.phase === 'running' && turn.continued)) && !turn.modelSeen;
}
