// Dead letters of both directions: list, retry, drop. Letters that the owner has retried or dropped are not listed any more.

import { messageId, parseMessageId } from '../../../protocol/ids.ts';
import { relayLimits } from '../../../protocol/limits.ts';
import type { Letter } from '../../../protocol/relay-api.ts';
import type { Core } from '../core.ts';
import { hasQuota } from '../inbound/quota.ts';
import { previewOf } from '../notices/words.ts';
import { ownActionPrefix } from '../tables/buttons.ts';
import { appendRow, findByRef, highestSeq, type NewRow } from '../tables/log.ts';
import { isOwnKey, lastPosition, type OutboxRow, ownKeyPrefix, type StoredCall, setRow } from '../tables/outbox.ts';
import { readProject, saveProject } from '../tables/projects.ts';
import { noReaction, noteState } from '../tables/reactions.ts';
import type { LogRow, ProjectRow } from '../tables/rows.ts';
import { count, type Sql, update } from '../tables/sql.ts';

const maxDeadLetters = 50;

export type DeadLetterResult = 'retried' | 'dropped' | 'unknown' | 'full';

export const deadLetterAnswers: Record<DeadLetterResult, string> = {
  retried: 'Queued again.',
  dropped: 'Dropped.',
  unknown: 'This letter is no longer in the mailbox.',
  full: 'The mailbox is full. Try again when the workstation has taken some messages.',
};

const reasonOf: Record<string, string> = {
  expired: 'it waited longer than it may',
  failed: 'its turn ended without an answer',
  lost: 'it did not reach the agent',
  refused: 'the workstation refused it',
  delivered: 'its workstation is away',
};

/** Reads the action of a relay button: `relay:retry:<letter>` or `relay:drop:<letter>`. */
export function readOwnAction(action: string): { action: 'retry' | 'drop'; deadLetterId: string } | null {
  if (!action.startsWith(ownActionPrefix)) return null;
  const [, verb, ...rest] = action.split(':');
  return verb === 'retry' || verb === 'drop' ? { action: verb, deadLetterId: rest.join(':') } : null;
}

/** Newest first. `isAway` = another workstation may take the project: then delivered messages are listed too. */
export function listDeadLetters(core: Core, number: number, isAway: boolean): Letter[] {
  const project = readProject(core.sql, number);
  if (project === undefined) return [];
  const letters = [
    ...inboundDeadLetters(core, project, isAway),
    ...outboundDeadLetters(core.sql, number, maxDeadLetters),
  ];
  return letters.sort((a, b) => b.at - a.at).slice(0, maxDeadLetters);
}

export function countDeadLetters(core: Core, project: ProjectRow, isAway: boolean): number {
  const inbound = count(
    core.sql,
    `SELECT count(*) AS count FROM log WHERE project = ? AND ${inboundWhere(isAway)}`,
    project.project,
    project.cursor,
  );
  return inbound + countOutbound(core.sql, project.project);
}

/** `typed` = the id of a letter, or the start of one that no other has. */
export function findDeadLetter(letters: readonly Letter[], typed: string): Letter | undefined {
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
): DeadLetterResult {
  const inbound = parseMessageId(id);
  if (inbound === undefined) {
    const done = action === 'retry' ? requeueDead(core.sql, number, id, nowMs) : dropDead(core.sql, number, id);
    if (!done) return 'unknown';
    return action === 'retry' ? 'retried' : 'dropped';
  }
  const project = readProject(core.sql, number);
  if (project === undefined || inbound.epoch !== core.epoch || inbound.project !== number) return 'unknown';
  const row = core.sql.exec<LogRow>(
    `SELECT * FROM log WHERE project = ? AND ${inboundWhere(isAway)} AND seq = ?`,
    number,
    project.cursor,
    inbound.seq,
  )[0];
  if (row === undefined) return 'unknown';
  if (action === 'retry') {
    if (!hasQuota(core, 0)) return 'full';
    appendAgain(core, project, row, nowMs);
  }
  // A message that the workstation still has ends here: it is not handed out again, whatever a later receipt says.
  const state = row.state ?? (action === 'retry' ? 'lost' : 'refused');
  // The new row owns the reaction of the phone message.
  const shown = action === 'retry' ? noReaction : row.shown;
  const state_at = row.state_at ?? nowMs;
  update(core.sql, 'log', { letter_done: 1, state, state_at, shown }, { project: number, seq: row.seq });
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

/** Which messages of the log are dead letters; the parameter is the cursor. */
function inboundWhere(isAway: boolean): string {
  const delivered = isAway ? 'state IS NULL AND seq <= ?' : 'state IS NULL AND 0 > ?';
  return `kind = 'message' AND letter_done = 0 AND (state IN ('expired', 'failed', 'lost', 'refused') OR (${delivered}))`;
}

function inboundDeadLetters(core: Core, project: ProjectRow, isAway: boolean): Letter[] {
  const rows = core.sql.exec<LogRow>(
    `SELECT * FROM log WHERE project = ? AND ${inboundWhere(isAway)} ORDER BY seq DESC LIMIT ?`,
    project.project,
    project.cursor,
    maxDeadLetters,
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

const outboundWhere = `state = 'dead' AND letter_done = 0 AND call <> '' AND key NOT LIKE '${ownKeyPrefix}%'`;

function countOutbound(sql: Sql, project: number): number {
  return count(sql, `SELECT count(DISTINCT key) AS count FROM outbox WHERE project = ? AND ${outboundWhere}`, project);
}

/** Newest first. */
function outboundDeadLetters(sql: Sql, project: number, limit: number): Letter[] {
  const rows = sql.exec<OutboxRow>(
    `SELECT *, min(part) FROM outbox WHERE project = ? AND ${outboundWhere} GROUP BY key ORDER BY accepted_at DESC LIMIT ?`,
    project,
    limit,
  );
  return rows.map((row) => ({
    id: row.key,
    direction: 'out',
    project,
    at: row.accepted_at,
    state: 'dead',
    error: { code: row.error_code ?? 'rejected', reason: row.error_reason ?? '' },
    preview: previewOf(textOf(JSON.parse(row.call || '{}') as Partial<StoredCall>)),
  }));
}

function textOf(call: Partial<StoredCall>): string {
  return 'text' in call ? (call.text ?? '') : '';
}

/** Queues the dead parts of a key again, behind everything that waits; false = the key has no dead part. */
function requeueDead(sql: Sql, project: number, key: string, nowMs: number): boolean {
  const dead = deadParts(sql, project, key);
  for (const row of dead) {
    setRow(sql, row, {
      waiting: 1,
      state: 'queued',
      attempts: 0,
      next_at: 0,
      n: lastPosition(sql, row.class) + 1,
      without: '',
      expires_at: nowMs + relayLimits.outboxTtlMs,
      settled_at: null,
      error_code: null,
      error_reason: null,
    });
  }
  return dead.length > 0;
}

/** The key stays dead for the daemon, but is not listed as a dead letter any more. */
function dropDead(sql: Sql, project: number, key: string): boolean {
  const dead = deadParts(sql, project, key);
  if (dead.length > 0) update(sql, 'outbox', { letter_done: 1 }, { key });
  return dead.length > 0;
}

/** A document holds no call: only its daemon has the bytes. */
function deadParts(sql: Sql, project: number, key: string): OutboxRow[] {
  if (isOwnKey(key)) return [];
  return sql.exec<OutboxRow>(
    "SELECT * FROM outbox WHERE key = ? AND project = ? AND state = 'dead' AND letter_done = 0 AND call <> '' ORDER BY part",
    key,
    project,
  );
}
