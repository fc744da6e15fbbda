// A program of its own that writes into one of the two files through our door: `writer <outbox> <name> <entries>`.
// Adds its entries one by one and marks the one before as sent. Prints the ids that it was told are in.

import { updateMailboxFile } from '../../agent/mailbox/update.ts';
import { isoSeconds, type OutboxEntry } from '../../protocol/files.ts';

const [path = '', name = '', count = '0'] = process.argv.slice(2);

for (let number = 0; number < Number(count); number += 1) {
  const id = `${name}-${number}`;
  const entry: OutboxEntry = { id, timestamp: isoSeconds(Date.now()), from: 'agent', text: id, sent: false };
  await updateMailboxFile<OutboxEntry>({ path, kind: 'outbox', now: Date.now, lockTimeoutMs: 60_000 }, (entries) => [
    ...entries.map((each) => (each.id === `${name}-${number - 1}` ? { ...each, sent: true } : each)),
    entry,
  ]);
  process.stdout.write(`${id}\n`);
}
