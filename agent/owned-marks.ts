// The marks by which the hooks of an agent that the daemon owns know that they have nothing to do: a file per owned process in the runtime
// directory, named by a secret in the environment of that process. A variable alone could be set by a cloned project.

import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ownedFolder, ownedVariable } from '../protocol/hook.ts';

export interface OwnedMark {
  /** The value of the variable; unpredictable. */
  readonly id: string;
  /** For the environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  /** From now on the hooks of that process are those of any other. Never rejects. */
  remove(): Promise<void>;
}

/** Must be there before the process starts. Rejects when the runtime directory cannot be written. */
export async function markOwned(runtimeDir: string): Promise<OwnedMark> {
  const id = randomBytes(16).toString('hex');
  const dir = join(runtimeDir, ownedFolder);
  const path = join(dir, id);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await writeFile(path, '', { mode: 0o600, flag: 'wx' });
  return { id, env: { [ownedVariable]: id }, remove: () => rm(path, { force: true }).catch(() => {}) };
}

/** What a dead daemon owned belongs to nobody now. Never rejects. */
export async function dropOwnedMarks(runtimeDir: string): Promise<void> {
  await rm(join(runtimeDir, ownedFolder), { recursive: true, force: true }).catch(() => {});
}
