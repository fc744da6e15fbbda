// A sprint as data: what the journal keeps of a sprint, and how a sprint can end. Pure; the rules are in agent/turns/sprint.ts.

/** Why a sprint ended. `goal`: the agent says that nothing is left. `stopped`, `aborted`: the owner, or Esc at the terminal. */
export type SprintEnd =
  | 'goal'
  | 'maxTasks'
  | 'timeout'
  | 'context'
  | 'repeating'
  | 'noProgress'
  | 'question'
  | 'error'
  | 'stopped'
  | 'aborted';

export interface Sprint {
  id: string;
  /** At most this many tasks. */
  tasks: number;
  /** Tasks that are finished. */
  done: number;
  /** Empty = the project's own task list. */
  goal: string;
  /** Epoch milliseconds, local clock: when it was ordered, and from its first task on when that began. */
  startedAt: number;
  /** Its first task was given. */
  begun?: true;
  /** How long it may take from its first task on, in milliseconds; absent = no limit. */
  forMs?: number;
  /** The kind of the current turn: a task, a turn that the phone or the terminal started in between, the closing report, or none yet. */
  turn: 'none' | 'task' | 'message' | 'final';
  /** Task turns in a row without a tool call. */
  idleTurns: number;
  /** Digest of the last task's answer. */
  lastAnswer?: string;
  /** The phone was notified that the context window is nearly full. */
  warned?: true;
  /** Set with the closing report: why it is the last turn. */
  ending?: SprintEnd;
}
