// What the relay has on its disk, read and changed behind its back: only while it is down may anything be changed.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Runs on each object's storage in which a mailbox stands. */
export function overMailboxes<T>(relayDir: string, work: (database: DatabaseSync) => T): T[] {
  const results: T[] = [];
  for (const name of readdirSync(relayDir, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.sqlite')) continue;
    const database = new DatabaseSync(join(relayDir, name));
    try {
      // The relay's process may be at its end for a moment.
      database.exec('PRAGMA busy_timeout = 10000');
      const known = database.prepare("SELECT name FROM sqlite_master WHERE name IN ('log', 'meta', 'outbox')").all();
      if (known.length === 3) results.push(work(database));
    } finally {
      database.close();
    }
  }
  return results;
}
