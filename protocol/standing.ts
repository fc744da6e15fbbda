// What a daemon tells the relay about one project: who works where, and what goes on. The relay shows it on the phone. Pure.

/** A part of a record that is longer is cut. UTF-16 units. */
export const standingLimits = {
  name: 64,
  session: 16,
  dialog: 200,
  zone: 64,
  /** Sessions of today, the one that was used last first. */
  sessions: 8,
} as const;

/** What the coding agent does now. `waiting` = the end of a turn is held for the phone. */
export const doings = ['idle', 'turn', 'waiting'] as const;
export type Doing = (typeof doings)[number];

/** What one session did today, in the time zone of the workstation. */
export interface SessionUsage {
  /** The start of its id. */
  session: string;
  agent: string;
  turns: number;
  /** Absent = its session file does not say. */
  tokens?: number;
  /** Share of the context window that its last request filled, 0 to 1. */
  context?: number;
}

export interface Standing {
  /** Host name of the workstation. */
  machine: string;
  /** Name of the project's folder, without the way to it. */
  folder: string;
  /** The version of the daemon. */
  version: string;
  /** IANA name of the workstation's time zone. */
  zone: string;
  /** The name of the coding agent that people read; absent = no session yet. */
  agent?: string;
  /** The start of the session's id. */
  session?: string;
  /** The daemon runs the session itself: in this mode and with this model, as far as the agent says. Absent = the session of a terminal. */
  owned?: string;
  doing: Doing;
  /** When that began, by the workstation's clock; epoch milliseconds. */
  sinceAt: number;
  /** What a dialog at the desk asks. */
  dialog?: string;
  /** How many approvals and questions wait for the phone. */
  asked: number;
  /** Messages that wait for the coding agent on the workstation. */
  waiting: number;
  away: boolean;
  /** Somebody is at the terminal; absent = not known. */
  present?: boolean;
  approvals: string;
  follow?: string;
  sprint?: { done: number; tasks: number };
  usage: SessionUsage[];
}

/** Somebody has to answer before the coding agent goes on. */
export function needsOwner({ asked, dialog }: Pick<Standing, 'asked' | 'dialog'>): boolean {
  return asked > 0 || dialog !== undefined;
}

/** What of it the phone is told of soon: everything but the counts that rise all the time. */
export function essenceOf({ usage: _usage, waiting: _waiting, ...rest }: Standing): string {
  return JSON.stringify(rest);
}
