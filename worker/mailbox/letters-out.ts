// Dead letters to the phone: what the platform refused for good. The rows are the outbox's own.

import { relayLimits } from '../../protocol/limits.ts';
import type { Letter } from '../../protocol/relay-api.ts';
import type { OutboxRow, StoredCall } from './outbox-rows.ts';
import { isOwnKey, lastPosition, ownKeyPrefix } from './outbox-rows.ts';
import type { Sql } from './store.ts';
import { previewOf } from './words.ts';

const outboundWhere = `state = 'dead' AND letter_done = 0 AND call <> '' AND key NOT LIKE '${ownKeyPrefix}%'`;

export function countOutbound(sql: Sql, project: number): number {
  const counted = sql.exec<{ count: number }>(
    `SELECT count(DISTINCT key) AS count FROM outbox WHERE project = ? AND ${outboundWhere}`,
    project,
  )[0];
  return counted?.count ?? 0;
}

/** Newest first. */
export function outboundLetters(sql: Sql, project: number, limit: number): Letter[] {
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

/** Sends what died of a key again, behind what waits; false when nothing of it is dead. */
export function requeueDead(sql: Sql, project: number, key: string, nowMs: number): boolean {
  const dead = deadParts(sql, project, key);
  for (const row of dead) {
    sql.exec(
      `UPDATE outbox SET waiting = 1, state = 'queued', attempts = 0, next_at = 0, n = ?, without = '', expires_at = ?,
       settled_at = NULL, error_code = NULL, error_reason = NULL WHERE key = ? AND part = ?`,
      lastPosition(sql, row.class) + 1,
      nowMs + relayLimits.outboxTtlMs,
      row.key,
      row.part,
    );
  }
  return dead.length > 0;
}

/** It stays dead for the daemon, and is no letter any more. */
export function dropDead(sql: Sql, project: number, key: string): boolean {
  const dead = deadParts(sql, project, key);
  if (dead.length > 0) sql.exec('UPDATE outbox SET letter_done = 1 WHERE key = ?', key);
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
