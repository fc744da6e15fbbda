// A process of its own that holds the lock of a mailbox file, as a slow writer does. Holds no expectations.

import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface Locked {
  /** The lock is still held. */
  isHeld(): boolean;
  release(): Promise<void>;
}

/** Resolves when the lock is held. */
export async function holdLock(path: string): Promise<Locked> {
  const module = new URL('../../agent/fs/lock.ts', import.meta.url).href;
  const program = `import { acquireLock } from ${JSON.stringify(module)};
    const lock = await acquireLock(process.argv[1], { timeoutMs: 10_000, short: true });
    process.stdin.on('end', () => lock.release()).resume();
    console.log('held');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, path], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  return {
    isHeld: () => child.exitCode === null,
    async release() {
      child.stdin.end();
      await exited;
    },
  };
}
