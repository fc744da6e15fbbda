// What the turn runtime of a project needs from its surroundings, and what it offers them.

import type { HookNote } from '../../protocol/files.ts';
import type { Texts } from '../../protocol/texts.ts';
import type { HookCall, HostDialog, Said, TurnAnswer } from '../../protocol/turn-events.ts';
import type { Journal } from '../journal/journal.ts';
import type { Follow, ProjectRecord, StoredTurn } from '../journal/records.ts';
import type { ProjectState } from '../journal/state.ts';
import type { Log } from '../log.ts';
import type { InboxSync } from '../mailbox/inbox.ts';
import type { HoldPolicy } from '../turns/hold.ts';
import type { TurnPlace } from '../turns/view.ts';

export interface TurnReport {
  /** See `answerId`: the same answer has the same id, whoever tells it. */
  id: string;
  /** What became of the messages that the turn carried, and the turn as it is since: in one append of the journal with the answer. */
  receipts: readonly ProjectRecord[];
  turn: StoredTurn;
  /** Where the turn ended. */
  via: HookNote;
  text: string;
  failed: boolean;
  /** The first message of the phone that the turn carried. */
  replyTo: string | undefined;
  /** A line above the text, which stays when the text is cut. */
  lead?: string;
  /** A person at the terminal has read it: kept for `tellWithheld`, in the same append. */
  withheld?: true;
}

export interface TurnActivity {
  /** The running turn carries messages of the phone; again, when it gets more. */
  started(): void;
  /** A tool is about to run, in words for a person that may hold secrets. It may wait for an approval first. */
  running(words: string): void;
  /** What the model writes for the person, in parts. May hold secrets. */
  said(part: Said): void;
  /** A tool has run, by its name for a person. */
  tool(name: string): void;
  ended(failed: boolean): void;
}

/** A way to the coding agent that needs no event of it. */
export interface Route {
  /** See `routeOrder`. */
  readonly name: 'held' | 'owned' | 'queue' | 'nudge' | 'lease';
  /** True = it begins a turn where no program waits; false = a program waits there for messages. */
  readonly wakes: boolean;
  /** Delay before `deliver`, in which the rest of a burst may come. */
  readonly gatherMs: number;
  /** Whether it may be tried now. */
  isOpen(): boolean;
  /**
   * Must offer what waits: through `Give`, in its turn among the events, or to a program that does so. `nobody` = no
   * agent was reached, so that the next route is tried.
   */
  deliver(): Promise<'given' | 'nobody'>;
}

/** The queue of a host, from which a session takes a prompt as soon as it is idle. */
export interface PromptQueue {
  /** Whether sessions of the agent can be reached: false where the owner has switched it off. Never rejects. */
  reaches(agent: string): Promise<boolean>;
  /** Rejects = the prompt may not stand there. */
  add(session: { agent: string; id: string; transcript: string | undefined }, prompt: string): Promise<void>;
}

/** What the agent's own session file says of a turn whose end nobody told. */
export interface AnswerInFile {
  answer: string;
  /** What the model was given. */
  prompts: readonly string[];
  /** See `answerId`. */
  id: string;
}

export interface TurnsOptions {
  project: ProjectState;
  journal: Journal;
  inbox: Omit<InboxSync, 'changed' | 'trouble' | 'stop'>;
  /**
   * Puts a status update into journal and outbox file, once for an id. Errors: those of the journal, where there are receipts; it
   * has neither them nor the answer then, which waits in memory.
   */
  report(report: TurnReport): Promise<void>;
  /** Sends one summary of what was withheld, once. Errors: those of `report`. */
  tellWithheld(): Promise<void>;
  /** There are receipts to send. */
  onReceipts(): void;
  /** What the phone may show while a turn runs. */
  activity: TurnActivity;
  /** A line for the phone about the turn itself; what the key is made of makes it once. `replyTo` = a message's id. */
  tell(key: string, text: string, replyTo?: string): Promise<void>;
  /** What the coding agent's own session file says of compressions since a turn began: the summary that each left. */
  compressions(at: TurnPlace): Promise<readonly string[]>;
  /** Takes what stands in the outbox file into the journal; false = that was not possible. Never rejects. */
  scanOutbox(): Promise<boolean>;
  /** The bound session is about to show a dialog in its terminal, or asks a question there. */
  onDialog(call: HookCall, pid: number | undefined, dialog: HostDialog): void;
  isAlive(pid: number): boolean;
  /** True = a person's terminal; a headless run must never be held. */
  isInteractive(pid: number, agent: string): Promise<boolean>;
  /** See `Keys.lastAt`. */
  lastKeyAt(pid: number, agent: string | undefined): Promise<number | undefined>;
  /** The process runs the sessions of several terminals: it says nothing of one of them. Absent = none does. Never rejects. */
  isServer?(pid: number, agent: string): Promise<boolean>;
  /** Absent = no host has one. */
  queue?: PromptQueue;
  /** The owner has switched `nudge` off; absent = no. */
  nudgeOff?: boolean;
  /** Whether `nudge` can ever type there: false where the owner has switched it off. Never rejects. */
  canWake(pid: number, agent: string): Promise<boolean>;
  /** Wakes the idle terminal of this process by keystrokes; false = not now. */
  nudge(pid: number, agent: string): Promise<boolean>;
  /** The answer to the prompt of an owned session that carries these messages; undefined = it did not come to its end. Absent = nobody looks. Never rejects. */
  answerInFile?(
    session: { agent: string; session: string },
    carried: readonly string[],
  ): Promise<AnswerInFile | undefined>;
  /** Cancels the prompt of an owned session, and says what that does not stop; undefined = the turn is of another session. */
  cancelOwned?(): string | undefined;
  /** 0 = a person is there until they say that they are away. */
  awayAfterMs: number;
  /** The setting of the file, until the phone has chosen. */
  follow: Follow;
  /** Routes to agents other than the bound session. */
  routes(): readonly Route[];
  holdPolicy: HoldPolicy;
  /** The owner's own words for a sprint's tasks. */
  sprintText: string | undefined;
  clock: () => number;
  log: Log;
}

export interface HookHost {
  tool: string;
  /** The coding agent's process. */
  pid: number | undefined;
  /** The timeout of the installed hook: a held answer ends before it. */
  maxMs: number;
  /** How long a hand-over may wait for the lock of the inbox file, by default `hookLimits.fileLockMs`. */
  lockMs?: number;
  /** True when the launcher no longer waits for the answer. */
  isGone(): boolean;
}

/** What the owner asks of the agent's turns, from the phone or at the terminal. Each returns the text of its answer, by default as the phone reads it. */
export interface Steering {
  /** `spent` = there was nothing to stop; otherwise the control stays open until it has had its effect. */
  stop(
    control: {
      id: string;
      seq: number;
      type: 'stop' | 'abort';
      /** What became of a dialog in the terminal. `waits` = the STOP has its effect only when a person there answers it. */
      dialog?: 'none' | 'cancelled' | 'waits';
    },
    texts?: Texts,
  ): Promise<{ text: string; spent: boolean }>;
  /** `args` as typed. */
  sprint(id: string, args: string, texts?: Texts): Promise<string>;
  away(args: string, texts?: Texts): Promise<string>;
  follow(args: string): Promise<string>;
  later(id: string, text: string): Promise<string>;
  /** Releases what a STOP parked. */
  unpark(): Promise<string>;
  /** New messages are in the journal: releases what is parked, and takes a stop word in a sprint for a STOP. */
  arrived(ids: readonly string[]): Promise<void>;
  /** The inbox file was read: a STOP of another program may stand in it. */
  looked(): Promise<void>;
}

export interface TurnsStatus {
  session: string | null;
  turnRuns: boolean;
  /** A turn runs, or is about to. */
  busy: boolean;
  /** The daemon runs the session. */
  owned: boolean;
  held: boolean;
  sprint: { done: number; tasks: number } | null;
  away: boolean;
  /** A person was seen at the terminal lately; null = no terminal of a person is known. */
  present: boolean | null;
  /** wa-sync can wake the idle terminal; null = not known. */
  wakeable: boolean | null;
  follow: Follow;
  /** Turns whose answers the phone gets as one summary. */
  withheld: number;
}

export interface Turns {
  /** A gate is answered from memory and never waits behind another event; `{}` = nothing speaks against the tool here. */
  handle(call: HookCall, host: HookHost): Promise<TurnAnswer>;
  readonly steering: Steering;
  /** A held hook may have something to give. */
  wake(): void;
  /** Runs other work on the messages in its turn among the events. */
  exclusive<T>(work: () => Promise<T>): Promise<T>;
  /** Ends what a vanished coding agent left running. Called by the daemon's clock. */
  checkProcess(): Promise<void>;
  /** A key in the terminal, pressed for the owner, ended the turn: no event tells that. */
  cancelled(why: string): void;
  /** A hook that worked without the daemon obeyed these STOPs; the journal has it already. */
  stoppedAlone(ids: readonly string[]): void;
  status(): TurnsStatus;
  /** Epoch milliseconds of the newest sign of a person at the bound terminal; 0 = none was seen. */
  seenAt(): number;
  /** Gives a held terminal back and tells the phone. */
  stop(): Promise<void>;
}
