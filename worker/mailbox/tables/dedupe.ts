// The memory of updates that came already. Two tables take turns, so that forgetting a whole one costs next to nothing.

import { relayLimits } from '../../../protocol/limits.ts';
import { getMeta, setMeta } from './schema.ts';
import type { Sql } from './sql.ts';

type Turn = { table: 'dedupe_a' | 'dedupe_b'; since: number };

/** False when the update is known; else it is remembered now, for at least `dedupeKeptMs`. */
export function rememberUpdate(sql: Sql, key: string): boolean {
  const { table } = currentTurn(sql);
  if (sql.exec(`SELECT key FROM ${otherTable(table)} WHERE key = ?`, key).length > 0) return false;
  return sql.exec(`INSERT INTO ${table} (key) VALUES (?) ON CONFLICT DO NOTHING RETURNING key`, key).length > 0;
}

/** For an update that was not stored after all. */
export function forgetUpdate(sql: Sql, key: string): void {
  sql.exec(`DELETE FROM ${currentTurn(sql).table} WHERE key = ?`, key);
}

/** Empties the older table and goes on in it, once the newer one has been in use for long enough. */
export function rotateDedupe(sql: Sql, nowMs: number): void {
  const { table, since } = currentTurn(sql);
  if (nowMs - since < relayLimits.dedupeKeptMs) return;
  const next = otherTable(table);
  // Not DELETE: that counts, and costs, a written row for each.
  sql.exec(`DROP TABLE ${next}`);
  sql.exec(`CREATE TABLE ${next} (key TEXT PRIMARY KEY) WITHOUT ROWID`);
  setMeta(sql, 'dedupe_turn', JSON.stringify({ table: next, since: nowMs } satisfies Turn));
}

function currentTurn(sql: Sql): Turn {
  const stored = getMeta(sql, 'dedupe_turn');
  return stored === undefined ? { table: 'dedupe_a', since: 0 } : (JSON.parse(stored) as Turn);
}

function otherTable(table: Turn['table']): Turn['table'] {
  return table === 'dedupe_a' ? 'dedupe_b' : 'dedupe_a';
}
