// Disks of their own for the workstation, small enough to be filled. Needs root and mount; without them there is none.

import { execFile } from 'node:child_process';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface SmallDisk {
  readonly dir: string;
  /** False = an ordinary folder, which is never full. */
  readonly small: boolean;
  fill(): Promise<void>;
  free(): Promise<void>;
  close(): Promise<void>;
}

const run = promisify(execFile);
const blockBytes = 64 * 1024;

export async function openSmallDisk(dir: string, sizeMiB: number): Promise<SmallDisk> {
  await mkdir(dir, { recursive: true });
  const small = await run('mount', ['-t', 'tmpfs', '-o', `size=${sizeMiB}m,mode=700`, 'tmpfs', dir]).then(
    () => true,
    () => false,
  );
  const ballast = join(dir, 'ballast');
  return {
    dir,
    small,
    async fill() {
      if (!small) return;
      const file = await open(ballast, 'w');
      try {
        for (let bytes = blockBytes; bytes >= 512; bytes /= 2) {
          const block = Buffer.alloc(bytes);
          for (let full = false; !full; ) {
            full = await file.write(block).then(
              () => false,
              () => true,
            );
          }
        }
      } finally {
        await file.close();
      }
    },
    free: () => rm(ballast, { force: true }),
    async close() {
      if (small) await run('umount', ['-l', dir]).catch(() => {});
    },
  };
}
