// What the daemon says of itself at `GET /status`: types only, for the daemon and for the commands that ask.

import type { ErrorCode } from '../protocol/errors.ts';
import type { LeasedMessage } from '../protocol/polling.ts';
import type { SessionUsage } from '../protocol/standing.ts';

export interface DaemonStatus {
  version: string;
  pid: number;
  startedAt: number;
  daemonId: string;
  /** For large inputs, now. */
  threads: number;
  /** The last hook calls of any folder, newest last. */
  hooks: RecentHook[];
  projects: ProjectStatus[];
}

export interface RecentHook {
  agent: string;
  event: string;
  session: string;
  /** Epoch milliseconds. */
  at: number;
}

/** Times of the last event of each hop since the daemon started, epoch milliseconds; null = none yet. */
export interface LastEvents {
  /** The relay answered a poll. */
  poll: number | null;
  /** A message or a command came from the phone. */
  message: number | null;
  /** The relay confirmed that something reached the phone, or never will. */
  sent: number | null;
  /** The coding agent called a hook in this folder. */
  hook: number | null;
}

export interface OwnedStatus {
  agent: string;
  /** Null = the agent has not named it yet. */
  session: string | null;
  state: 'starting' | 'open';
  mode: string | null;
  model: string | null;
}

export interface ProjectStatus {
  dir: string;
  files: string;
  filesNote: string | null;
  mailbox: string;
  project: number;
  relay: 'connecting' | 'connected' | 'failing' | 'stopped';
  /** With `failing`. */
  error?: ErrorCode;
  hint?: string | undefined;
  waiting: number;
  leased: LeasedMessage[];
  unsent: number;
  /** The last row that is on this disk. */
  cursor: number;
  session: string | null;
  /** The coding agent of the session and its session file, for model and tokens. */
  agent: string | null;
  transcript: string | null;
  turnRuns: boolean;
  held: boolean;
  /** The session that the daemon runs itself; null = none. */
  owned?: OwnedStatus | null;
  sprint: { done: number; tasks: number } | null;
  away: boolean;
  /** Turns at the terminal that the phone was not told of. */
  withheld?: number;
  inboxTrouble: string | null;
  outboxTrouble: string | null;
  approvals: { mode: string; asked: number; policies: string[]; problems: string[] };
  /** What a dialog of the coding agent at the desk asks. */
  dialog?: string | null;
  /** Somebody is at the terminal; null = not known. */
  present?: boolean | null;
  /** Whether turns typed at the desk are sent to the phone. */
  follow?: string;
  /** Of today, by the whole ids of the sessions; the one that ended a turn last first. */
  usage: SessionUsage[];
  last: LastEvents;
}
