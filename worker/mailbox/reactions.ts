// The ladder of a phone message as one reaction on it: what is not shown yet, newest first. Calls no platform.

import type { ReceiptState } from '../../protocol/receipts.ts';
import type { Reaction } from '../platform.ts';
import type { LogRow } from './log.ts';
import type { Sql } from './store.ts';

/** In memory: a fresh object finds again what the last one left. */
export interface ReactionQueue {
  /** The state of a message may have changed. */
  note(project: number, seq: number): void;
  isEmpty(): boolean;
  /** The newest message whose reaction is not the one of its state. */
  next(sql: Sql): PendingReaction | null;
  /** Shown, or given up. */
  settle(sql: Sql, pending: PendingReaction, shown: Reaction | 'none'): void;
}

export interface PendingReaction {
  project: number;
  seq: number;
  ref: string;
  reaction: Reaction;
}

/** What stands in `shown` of a message that takes no reaction any more. */
export const noReaction = 'none';

type ShownRow = Pick<LogRow, 'seq' | 'kind' | 'ref' | 'state' | 'shown'>;

const columns = 'seq, kind, ref, state, shown';
const pageRows = 30;
/** How far back a fresh object looks while it finds something. */
const maxPages = 10;
/** Beyond this the oldest are forgotten: reactions of a flood would come hours late. */
const maxNoted = 20_000;

/** `enabled` = the platform has reactions. */
export function createReactionQueue(enabled: boolean): ReactionQueue {
  let noted: { project: number; seq: number }[] = [];
  let scanned = false;
  /** What `next` gave out last, and where it came from: told again only when its message was noted again meanwhile. */
  let given: { pending: PendingReaction; entry: { project: number; seq: number } } | null = null;

  function scan(sql: Sql): void {
    scanned = true;
    const projects = sql.exec<{ project: number }>('SELECT project FROM project');
    const found = projects.flatMap(({ project }) => unshown(sql, project).map((seq) => ({ project, seq })));
    noted = [...found, ...noted];
  }

  return {
    note(project, seq) {
      if (!enabled) return;
      noted.push({ project, seq });
      if (noted.length > maxNoted) noted = noted.slice(maxNoted / 2);
    },
    isEmpty: () => noted.length === 0,
    next(sql) {
      if (enabled && !scanned) scan(sql);
      for (let last = noted.at(-1); last !== undefined; last = noted.at(-1)) {
        const { project, seq } = last;
        // One row read each: a message has three reactions.
        const row = sql.exec<ShownRow>(`SELECT ${columns} FROM log WHERE project = ? AND seq = ?`, project, seq)[0];
        const reaction = row === undefined ? null : pendingOf(row);
        if (row !== undefined && reaction !== null) {
          given = { pending: { project, seq, ref: row.ref, reaction }, entry: last };
          return given.pending;
        }
        noted.pop();
      }
      return null;
    },
    settle(sql, pending, shown) {
      const { project, seq } = pending;
      sql.exec('UPDATE log SET shown = ? WHERE project = ? AND seq = ?', shown, project, seq);
      const index = given?.pending === pending ? noted.lastIndexOf(given.entry) : -1;
      if (index !== -1) noted.splice(index, 1);
    },
  };
}

/** The messages of a project that wait for their reaction, oldest first. */
function unshown(sql: Sql, project: number): number[] {
  const found: number[] = [];
  let below = Number.MAX_SAFE_INTEGER;
  for (let page = 0; page < maxPages; page += 1) {
    const rows = sql.exec<ShownRow>(
      `SELECT ${columns} FROM log WHERE project = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
      project,
      below,
      pageRows,
    );
    const pending = rows.filter((row) => pendingOf(row) !== null);
    found.push(...pending.map((row) => row.seq));
    if (pending.length === 0 || rows.length < pageRows) break;
    below = rows.at(-1)?.seq ?? 0;
  }
  return found.reverse();
}

function pendingOf(row: ShownRow): Reaction | null {
  if (row.kind !== 'message' || row.ref === '' || row.shown === noReaction) return null;
  const wanted = reactionOf(row.state);
  return row.shown === wanted ? null : wanted;
}

/** Null = stored or delivered, which `/status` tells apart. */
function reactionOf(state: ReceiptState | null): Reaction {
  switch (state) {
    case 'injected':
      return 'working';
    case 'answered':
      return 'done';
    case 'failed':
    case 'expired':
    case 'refused':
    case 'lost':
      return 'failed';
    default:
      return 'seen';
  }
}
