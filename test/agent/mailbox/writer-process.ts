// A process of its own that writes into a mailbox file as the daemon and the hooks do. Run by node:
//   writer-process.ts append <path> <name> <count>     one update per entry
//   writer-process.ts die <path> <name> <callNumber>   kills itself right before that call of the file system; exit 0 = done

import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import type { OutboxEntry } from '../../../protocol/files.ts';

const [mode = '', path = '', name = '', number = ''] = process.argv.slice(2);

if (mode === 'die') await dieBefore(Number(number));
const { updateMailboxFile } = await import('../../../agent/mailbox/update.ts');

const count = mode === 'append' ? Number(number) : 1;
for (let index = 0; index < count; index += 1) {
  const entry: OutboxEntry = {
    id: `${name}_${index}`,
    timestamp: '2026-02-15T14:30:15Z',
    from: 'agent',
    text: `step ${index} of ${name}`,
    sent: false,
  };
  await updateMailboxFile<OutboxEntry>({ path, kind: 'outbox', now: Date.now, lockTimeoutMs: 60_000 }, (entries) => [
    ...entries,
    entry,
  ]);
}

/** Every call of the file system that changes something, or makes it last, is a step at which the power may go. */
async function dieBefore(callNumber: number): Promise<void> {
  let calls = 0;
  const step = () => {
    calls += 1;
    if (calls === callNumber) process.kill(process.pid, 'SIGKILL');
  };
  const handle = await fs.open(process.execPath, 'r');
  const handles = Object.getPrototypeOf(handle);
  await handle.close();
  for (const [owner, method] of [
    [fs, 'open'],
    [fs, 'writeFile'],
    [fs, 'link'],
    [fs, 'unlink'],
    [fs, 'rm'],
    [fs, 'rename'],
    [fs, 'chmod'],
    [handles, 'writeFile'],
    [handles, 'sync'],
    [handles, 'close'],
  ] as const) {
    const original = owner[method];
    owner[method] = function stepping(this: unknown, ...args: unknown[]) {
      step();
      return original.apply(this, args);
    };
  }
  syncBuiltinESMExports();
}
