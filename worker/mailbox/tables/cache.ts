// The object's memory of its storage, so that a message costs few rows read. Never ahead of the storage: an undone transaction
// clears the memory.

import type { LogRow, ProjectRow } from './rows.ts';
import type { Sql } from './sql.ts';

export interface Cache {
  /** All projects by number; null = not read yet. */
  projects: Map<number, ProjectRow> | null;
  /** Project -> highest row of the log; 0 = none. */
  highest: Map<number, number>;
  /** Null = known to be absent. */
  meta: Map<string, string | null>;
  /** Whether some album is open; null = not known. */
  albumOpen: boolean | null;
  /** True = no row of the outbox waits. */
  outboxEmpty: boolean;
  /** Project -> the oldest message above `from` that waits; null = none. */
  oldest: Map<number, { from: number; waiting: Waiting | null }>;
  /** The messages whose reaction on the phone is not the one of their state, the last that changed at the end; null = not read yet. */
  reactions: Map<string, ReactingRow> | null;
  /** Which outbox row answered a message, by the id of the message: the text and the report on the turn come within seconds. */
  answers: Map<string, { key: string; part: number }>;
  /** Project -> when its last socket went. Unknown after hibernation: then `present_until_at` stands in. */
  goneAt: Map<number, number>;
}

/** The columns that decide the reaction on a message. */
export type ReactingRow = Pick<LogRow, 'project' | 'seq' | 'kind' | 'ref' | 'state' | 'shown'>;

/** What deadlines and the status need of a waiting message. */
export interface Waiting {
  at: number;
  stored_at: number;
  expires_at: number;
}

const caches = new WeakMap<Sql, Cache>();

export function cacheOf(sql: Sql): Cache {
  const known = caches.get(sql);
  if (known) return known;
  const fresh: Cache = {
    projects: null,
    highest: new Map(),
    meta: new Map(),
    albumOpen: null,
    outboxEmpty: false,
    oldest: new Map(),
    reactions: null,
    answers: new Map(),
    goneAt: new Map(),
  };
  caches.set(sql, fresh);
  return fresh;
}

/** The same database, whose cache is cleared when a transaction is undone. */
export function withForgetting(sql: Sql): Sql {
  const forgetting: Sql = {
    ...sql,
    transaction(run) {
      try {
        return sql.transaction(run);
      } catch (error) {
        caches.delete(forgetting);
        throw error;
      }
    },
  };
  return forgetting;
}
