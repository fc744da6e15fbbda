// What the rules know about a project at one moment. The daemon builds it from its journal, the fallback from view.json
// and the inbox file; the rules do not see the difference.

import type { InboxEntry } from '../../protocol/files.ts';
import type { Tool } from '../../protocol/hook.ts';

/** An unread message, ready to be handed over. */
export interface WaitingMessage {
  entry: InboxEntry;
  /** Epoch milliseconds; 0 when the entry's timestamp is no time. */
  at: number;
  /** True = its identity stands in the journal, so it came from the owner's phone through the relay. */
  fromOwner: boolean;
  /** The workflow that a slash text named, ready for the model. */
  expansion?: { name: string; text: string };
}

/** The one session of a project that receives messages. */
export interface BoundSession {
  id: string;
  /** Pid of the coding agent, undefined when the launcher did not say. */
  pid: number | undefined;
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
  /** What the bound session's running turn carries. */
  carried: readonly string[];
  /** True while that turn runs. */
  turnRuns: boolean;
  /** No daemon: no workflow expansion, and the agent is told. */
  degraded: boolean;
}

/** Where the running turn began, for proof and for its answer. */
export interface TurnPlace {
  tool: Tool;
  /** The coding agent's session file, and its size in bytes when the turn began. */
  transcript: string | undefined;
  offset: number;
}

/** view.json: what the fallback needs of the daemon's state, replaced atomically after each change. */
export interface StoredView {
  version: 1;
  at: number;
  bound: BoundSession | undefined;
  /** Identities (`identityOf`) of messages from the owner's phone that wait. */
  owner: readonly string[];
  /** Identities handed over in the last hour; a stale file must not show them twice. */
  handed: readonly string[];
  carried: readonly string[];
  turnRuns: boolean;
  place: TurnPlace | undefined;
}

/** Undefined = not a view of this version; the fallback then knows nothing about the owner's messages. */
export function parseStoredView(value: unknown): StoredView | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const view = value as Record<string, unknown>;
  const lists = ['owner', 'handed', 'carried'].every((key) => Array.isArray(view[key]));
  return view.version === 1 && lists ? (value as StoredView) : undefined;
}
