// How groups address this bot (`/status@name`): asked of the platform once a day at most, and only where such a command comes.

import type { Core } from '../core.ts';
import { getMeta, setMeta } from '../tables/schema.ts';

/** A bot can be renamed: after this time the username is read again before a command of another username is refused. */
const freshMs = 24 * 3_600_000;

/** Null = not known, or too old to refuse a command by: then every username counts as this bot's. */
export function readBotUsername(core: Core): string | null {
  const stored = getMeta(core.sql, 'username');
  if (stored === undefined) return null;
  const { name, at } = JSON.parse(stored) as { name: string; at: number };
  return core.clock() - at < freshMs ? name : null;
}

/** Never throws; without an answer of the platform everything stays as it is. */
export async function learnBotUsername(core: Core): Promise<void> {
  const name = await core.platform.botUsername();
  if (name !== null) setMeta(core.sql, 'username', JSON.stringify({ name, at: core.clock() }));
}
