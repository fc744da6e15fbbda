// How groups address this bot (`/status@name`): asked of the platform once a day at most, and only where such a command comes.

import type { Core } from '../core.ts';
import { getMeta, setMeta } from '../tables/schema.ts';
import type { Sql } from '../tables/sql.ts';

/** A bot can be renamed; after this long a strange name is asked about before it counts as another bot's. */
const freshMs = 24 * 3_600_000;

/** Null = not known, or too old to refuse a command by: then every username counts as this bot's. */
export function readBotUsername(sql: Sql, nowMs: number): string | null {
  const stored = getMeta(sql, 'username');
  if (stored === undefined) return null;
  const { name, at } = JSON.parse(stored) as { name: string; at: number };
  return nowMs - at < freshMs ? name : null;
}

/** Never throws; an answer that does not come leaves everything as it is. */
export async function learnBotUsername(core: Core): Promise<void> {
  const name = await core.platform.botUsername();
  if (name !== null) setMeta(core.sql, 'username', JSON.stringify({ name, at: core.clock() }));
}
