// What the rules know about a project at one moment. The daemon builds it from its journal, the fallback from the inbox file;
// the rules do not see the difference.

import type { InboxEntry } from '../../protocol/files.ts';
import type { Sprint } from '../../protocol/sprint.ts';
import type { HoldView } from './hold.ts';

/** An unread message, ready to be handed over. */
export interface WaitingMessage {
  entry: InboxEntry;
  /** Epoch milliseconds; 0 when the entry's timestamp cannot be read. */
  at: number;
  /** True = it came from the owner's phone: the journal has it, or the daemon signed it. */
  fromOwner: boolean;
  /** The workflow that a slash text named, ready for the model. */
  expansion?: { name: string; text: string };
  /** `/later`: not into a running turn. */
  later?: true;
  /** It was parked by a STOP and released since. */
  beforeStop?: true;
}

/** A STOP or abort that has not had its effect yet. */
export interface StopView {
  /** Of the control, or of the file's entry where another program wrote it. */
  id: string;
  type: 'stop' | 'abort';
  /** The owner's words; empty when another program wrote it. */
  text: string;
  /** False = written into the inbox file by another program. */
  fromOwner: boolean;
}

/** How a turn went, once its end was settled. */
export interface TurnOutcome {
  /** What the model said last; undefined = nothing. */
  answer: string | undefined;
  failed: boolean;
  /** Ended at the keyboard. */
  cancelled: boolean;
  /** The prompt of wa-sync never became a model request: Esc while the hook was held. */
  lost: boolean;
  toolCalls: number;
  /** Of the context window that the last request filled, 0 to 1; undefined = not known. */
  contextShare?: number;
  /** The host takes no next prompt from this end. */
  last?: true;
}

/** The one session of a project that receives messages. */
export interface BoundSession {
  id: string;
  /** Pid of the coding agent, undefined when the launcher did not say. */
  pid: number | undefined;
  /** The daemon runs it and says itself when it ends: there is no keyboard, and each end of a turn waits for a prompt. */
  owned?: true | undefined;
}

export interface TurnView {
  now: number;
  bound: BoundSession | undefined;
  /** False once the process behind `bound` is gone. */
  boundAlive: boolean;
  /** Oldest first, parked and expired ones left out. */
  waiting: readonly WaitingMessage[];
  /** Messages that wait but stand neither here nor in the file yet. */
  further: number;
  /** True while its turn runs. */
  turnRuns: boolean;
  /** No daemon: no workflow expansion, and the agent is told. */
  degraded: boolean;
  /** What the last turn's end was answered with as the next prompt, until the host starts it. */
  offered: string | undefined;
  /** Prompts that must not begin a turn: what they carry went another way. Absent = none. */
  stale?: readonly string[];
  /** Turns that wa-sync started since the last prompt of a person. */
  continuations: number;
  /** How many of them the host takes in a row before it drops one. Absent = no limit. */
  maxContinuations?: number | undefined;
  /** False = the host would drop the next prompt of a turn's end, because no tool came between the last ones. */
  takesNext?: boolean;
  stop: StopView | undefined;
  /** A gate can end the turn. Absent = yes. */
  canHalt?: boolean;
  sprint: Sprint | undefined;
  /** The owner's own words for a sprint's tasks. */
  sprintText: string | undefined;
  hold: HoldView;
  /** Epoch milliseconds of the agent's last answer; 0 = none yet. */
  answeredAt: number;
}

/** Where the running turn began, for proof and for its answer. */
export interface TurnPlace {
  tool: string;
  /** The coding agent's session file, and its size in bytes when the turn began. */
  transcript: string | undefined;
  offset: number;
  /** Its size when the turn had ended; absent = now. */
  until?: number;
}
