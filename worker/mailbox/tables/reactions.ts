// The ladder of a phone message as one reaction: which messages, and commands whose text is one, do not show theirs yet, newest first.
// Calls no platform.
// All of these messages lie above `shown_to` of their project, which is written with the state that makes a reaction due.

import type { ReceiptState } from '../../../protocol/receipts.ts';
import type { Reaction } from '../../platform.ts';
import type { Core } from '../core.ts';
import { cacheOf, type ReactingRow } from './cache.ts';
import { readProjects } from './projects.ts';

interface PendingReaction {
  row: ReactingRow;
  reaction: Reaction;
}

/** The value of `shown` for a message that takes no reaction any more. */
export const noReaction = 'none';

/** A row as it is written now. At or below `shown_to` the caller saves the project in the same transaction. */
export function noteState(core: Core, row: ReactingRow): void {
  const due = dueReactions(core);
  due.delete(keyOf(row));
  const { project, seq, kind, ref, state, shown } = row;
  if (reactionDue(core, row) !== null) due.set(keyOf(row), { project, seq, kind, ref, state, shown });
}

export function isReactionDue(core: Core): boolean {
  return dueReactions(core).size > 0;
}

/** The reaction that became due last. */
export function nextReaction(core: Core): PendingReaction | null {
  const row = [...dueReactions(core).values()].at(-1);
  const reaction = row === undefined ? null : reactionDue(core, row);
  return row === undefined || reaction === null ? null : { row, reaction };
}

/** The phone shows the reaction, or the relay has given it up. */
export function settleReaction(core: Core, { row }: PendingReaction, shown: Reaction | typeof noReaction): void {
  // A newer row may have taken the reaction of the phone message over during the call.
  const query = 'UPDATE log SET shown = ? WHERE project = ? AND seq = ? AND shown IS NOT ?';
  core.sql.exec(query, shown, row.project, row.seq, noReaction);
  const due = dueReactions(core);
  // Its state may have changed during the call.
  const now = due.get(keyOf(row));
  if (now === undefined) return;
  now.shown = shown;
  if (reactionDue(core, now) === null) due.delete(keyOf(row));
}

function dueReactions(core: Core): Map<string, ReactingRow> {
  const cache = cacheOf(core.sql);
  cache.reactions ??= new Map(
    readProjects(core.sql)
      .flatMap(({ project, shown_to }) =>
        core.sql.exec<ReactingRow>(
          'SELECT project, seq, kind, ref, state, shown FROM log WHERE project = ? AND seq > ? ORDER BY seq',
          project,
          shown_to,
        ),
      )
      .filter((row) => reactionDue(core, row) !== null)
      .map((row) => [keyOf(row), row]),
  );
  return cache.reactions;
}

function keyOf({ project, seq }: ReactingRow): string {
  return `${project} ${seq}`;
}

/** Null = the phone already shows the right reaction, or needs none. */
function reactionDue(core: Core, { kind, ref, state, shown }: ReactingRow): Reaction | null {
  // The daemon reports of a control whose text it has made a message, as `/new` and `/later` do.
  const climbs = kind === 'message' || (kind === 'control' && state !== null);
  if (!core.platform.capabilities.reactions || !climbs || ref === '' || shown === noReaction) return null;
  const wanted = reactionOf(state);
  return shown === wanted ? null : wanted;
}

/** Stored and delivered are one, which `/status` tells apart. */
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
