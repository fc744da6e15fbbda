// Dead letters of both directions: listing, sending again, dropping. What the owner has dealt with stays until it is deleted, unlisted.

import { messageId, parseMessageId } from '../../protocol/ids.ts';
import { relayLimits } from '../../protocol/limits.ts';
import type { Letter } from '../../protocol/relay-api.ts';
import { ownActionPrefix } from './buttons.ts';
import type { Core } from './core.ts';
import { countOutbound, dropDead, outboundLetters, requeueDead } from './letters-out.ts';
import type { LogRow, NewRow } from './log.ts';
import { appendRow, findByRef, highestSeq, readRow } from './log.ts';
import type { ProjectRow } from './projects.ts';
import { readProject, saveProject } from './projects.ts';
import { noReaction, noteState } from './reactions.ts';
import { hasRoom } from './room.ts';
import { previewOf } from './words.ts';

const maxLetters = 50;

export type LetterResult = 'retried' | 'dropped' | 'unknown' | 'full';

export const letterAnswers: Record<LetterResult, string> = {
  retried: 'Queued again.',
  dropped: 'Dropped.',
  unknown: 'That letter is no longer here.',
  full: 'The mailbox is full. Try again when the workstation has taken some messages.',
};

const endedStates = ['expired', 'failed', 'lost', 'refused'];

const reasonOf: Record<string, string> = {
  expired: 'it waited longer than it may',
  failed: 'its turn ended without an answer',
  lost: 'it did not reach the agent',
  refused: 'the workstation refused it',
  delivered: 'its workstation is away',
};

/** A button of ours: `relay:retry:<letter>` or `relay:drop:<letter>`. */
export function readOwnAction(action: string): { action: 'retry' | 'drop'; letterId: string } | null {
  if (!action.startsWith(ownActionPrefix)) return null;
  const [, verb, ...rest] = action.split(':');
  return verb === 'retry' || verb === 'drop' ? { action: verb, letterId: rest.join(':') } : null;
}

/** Newest first. `isAway` = the workstation has been silent for the takeover time: then what it has taken is listed too. */
export function listLetters(core: Core, number: number, isAway: boolean): Letter[] {
  const project = readProject(core.sql, number);
  if (project === undefined) return [];
  const letters = [...inboundLetters(core, project, isAway), ...outboundLetters(core.sql, number, maxLetters)];
  return letters.sort((a, b) => b.at - a.at).slice(0, maxLetters);
}

export function countLetters(core: Core, project: ProjectRow, isAway: boolean): number {
  const inbound = core.sql.exec<{ count: number }>(
    `SELECT count(*) AS count FROM log WHERE project = ? AND ${inboundWhere(isAway)}`,
    project.project,
    project.cursor,
  )[0];
  return (inbound?.count ?? 0) + countOutbound(core.sql, project.project);
}

/** `typed` = the id of a letter, or the start of one that no other has. */
export function findLetter(letters: readonly Letter[], typed: string): Letter | undefined {
  const exact = letters.find(({ id }) => id === typed);
  const starting = letters.filter(({ id }) => id.startsWith(typed));
  return exact ?? (typed.length >= 6 && starting.length === 1 ? starting[0] : undefined);
}

/** Runs inside a transaction. */
export function actOnLetter(
  core: Core,
  number: number,
  id: string,
  action: 'retry' | 'drop',
  isAway: boolean,
  nowMs: number,
): LetterResult {
  const inbound = parseMessageId(id);
  if (inbound === undefined) {
    const done = action === 'retry' ? requeueDead(core.sql, number, id, nowMs) : dropDead(core.sql, number, id);
    if (!done) return 'unknown';
    return action === 'retry' ? 'retried' : 'dropped';
  }
  const project = readProject(core.sql, number);
  const row =
    inbound.epoch === core.epoch && inbound.project === number ? readRow(core.sql, number, inbound.seq) : undefined;
  if (project === undefined || row === undefined || !isLetter(project, row, isAway)) return 'unknown';
  if (action === 'retry') {
    if (!hasRoom(core, 0)) return 'full';
    appendAgain(core, project, row, nowMs);
  }
  // What the workstation still has is over: it is not handed out again, whatever a later report says.
  const state = row.state ?? (action === 'retry' ? 'lost' : 'refused');
  // The new row owns the reaction of the phone message.
  const shown = action === 'retry' ? noReaction : row.shown;
  core.sql.exec(
    'UPDATE log SET letter_done = 1, state = ?, state_at = coalesce(state_at, ?), shown = ? WHERE project = ? AND seq = ?',
    state,
    nowMs,
    shown,
    number,
    row.seq,
  );
  noteState(core, { ...row, state, shown });
  if (row.state === null) saveProject(core, project);
  return action === 'retry' ? 'retried' : 'dropped';
}

/** The same message with its present text, its files and its quote, as if it had just been sent. */
function appendAgain(core: Core, project: ProjectRow, row: LogRow, nowMs: number): void {
  const highest = highestSeq(core.sql, project);
  const body = JSON.parse(row.body) as Omit<NewRow & { kind: 'message' }, 'at' | 'ref' | 'kind'>;
  const newest = row.ref === '' ? undefined : findByRef(core.sql, row.project, highest, row.ref);
  const text = newest?.kind === 'edit' ? (JSON.parse(newest.body) as { text: string }).text : body.text;
  appendRow(
    core,
    row.project,
    highest + 1,
    {
      ...body,
      at: nowMs,
      ref: row.ref,
      kind: 'message',
      text,
      expiresAt: nowMs + core.messageTtlMs,
      retryOf: messageId(core.epoch, row.project, row.seq),
    },
    nowMs,
  );
}

function isLetter(project: ProjectRow, row: LogRow, isAway: boolean): boolean {
  if (row.kind !== 'message' || row.letter_done === 1) return false;
  if (row.state === null) return isAway && row.seq <= project.cursor;
  return endedStates.includes(row.state);
}

/** The same as `isLetter`; its parameter is the cursor. */
function inboundWhere(isAway: boolean): string {
  const delivered = isAway ? 'state IS NULL AND seq <= ?' : 'state IS NULL AND 0 > ?';
  return `kind = 'message' AND letter_done = 0 AND (state IN ('expired', 'failed', 'lost', 'refused') OR (${delivered}))`;
}

function inboundLetters(core: Core, project: ProjectRow, isAway: boolean): Letter[] {
  const rows = core.sql.exec<LogRow>(
    `SELECT * FROM log WHERE project = ? AND ${inboundWhere(isAway)} ORDER BY seq DESC LIMIT ?`,
    project.project,
    project.cursor,
    maxLetters,
  );
  return rows.map((row) => {
    const state = row.state ?? 'delivered';
    return {
      id: messageId(core.epoch, row.project, row.seq),
      direction: 'in',
      project: row.project,
      at: row.at,
      state,
      error: { code: state, reason: reasonOf[state] ?? state },
      preview: previewOf((JSON.parse(row.body) as { text: string }).text),
    };
  });
}

/** A workstation that is silent for this long may be replaced by another. */
export function isAwaySince(presentAt: number | null, nowMs: number): boolean {
  return presentAt === null || nowMs - presentAt >= relayLimits.takeoverAfterMs;
}
