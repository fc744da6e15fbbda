// A systemd user manager of its own for a test, in a mount namespace: needs root and systemd.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const helper = join(import.meta.dirname, 'user-manager.sh');

/** The command line that runs another one under such a manager. */
export const underUserManager = ['unshare', '--mount', 'sh', helper] as const;

/** Why there can be none; undefined = there can. */
export function missingUserManager(): string | undefined {
  if (process.platform !== 'linux') return 'systemd is for Linux';
  if (process.getuid?.() !== 0) return 'a user manager of its own needs root';
  const [program, ...args] = underUserManager;
  const works = spawnSync(program, [...args, 'true'], { timeout: 20_000, stdio: 'ignore' });
  return works.status === 0 ? undefined : 'systemd does not start here';
}
