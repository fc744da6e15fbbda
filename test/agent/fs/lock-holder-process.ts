// A process that takes a lock for its life, says so on stdout, and stays until it is killed.

import { acquireLock } from '../../../agent/fs/lock.ts';

await acquireLock(process.argv[2] ?? '', { timeoutMs: 0, short: false });
process.stdout.write('held\n');
setInterval(() => {}, 60_000);
