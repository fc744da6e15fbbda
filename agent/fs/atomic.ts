// Replaces a file whole: temporary name in the same folder, fsync, rename, fsync of the folder. A reader sees the old or the new content.

import { constants } from 'node:fs';
import { open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { randomHex } from '../crypto.ts';

/** The names that `temporaryPath` makes, and the tickets of lock.ts. The group is the writer's process id. */
export const temporaryForm =
  /^\.wa-tmp-(?:(\d{1,10})-[0-9a-f]{12}|ticket-(?:wa_\w+\.json|[0-9a-f]{24})\.lock-[\w.-]{1,64})$/;

/**
 * A name in the folder of `path` that `unique`, 12 hex digits, makes unique. Not `wa_*.json.tmp`, because scripts of other people write
 * such names.
 */
export function temporaryPath(path: string, unique = randomHex(6)): string {
  return join(dirname(path), `.wa-tmp-${process.pid}-${unique}`);
}

/** `beforeRename` cancels the write by returning false. Errors: `file_unusable`; the old file is then intact. */
export async function writeAtomic(
  path: string,
  content: string | Uint8Array,
  beforeRename?: () => Promise<boolean>,
  mode?: number,
): Promise<boolean> {
  const temporary = temporaryPath(path);
  try {
    await writeDurably(temporary, content, mode);
    if (beforeRename && !(await beforeRename())) {
      await rm(temporary, { force: true });
      return false;
    }
    await renameOver(temporary, path);
    await syncFolder(dirname(path));
    return true;
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => {});
    throw fileUnusable(path, cause);
  }
}

/** Like `writeAtomic`, but a power cut may restore the older content: for hints only. Errors: `file_unusable`. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = temporaryPath(path);
  try {
    await writeFile(temporary, text, { mode: 0o600, flag: 'wx' });
    await renameOver(temporary, path);
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => {});
    throw fileUnusable(path, cause);
  }
}

/** Creates a file and syncs its content; the folder is not synced. Throws the error of the system. */
export async function writeDurably(path: string, content: string | Uint8Array, mode = 0o600): Promise<void> {
  const handle = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    if (mode !== 0o600) await handle.chmod(mode);
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Windows refuses to replace a file while another process has it open, so the rename is tried again. */
async function renameOver(from: string, to: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await rename(from, to);
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      const passes = process.platform === 'win32' && (code === 'EPERM' || code === 'EBUSY' || code === 'EACCES');
      if (!passes || attempt >= 10) throw cause;
      await new Promise((resolve) => setTimeout(resolve, 10 * 2 ** Math.min(attempt, 4)));
    }
  }
}

/** Errors of a folder that cannot be opened or synced: the rename stands, and its durability depends on the system. */
const unsyncable = new Set(['EACCES', 'EPERM', 'EINVAL', 'EISDIR', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EBADF']);

async function syncFolder(dir: string): Promise<void> {
  if (process.platform === 'win32') return;
  try {
    const handle = await open(dir, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (cause) {
    if (!unsyncable.has((cause as NodeJS.ErrnoException).code ?? '')) throw cause;
  }
}

const repairs: Record<string, (path: string) => string> = {
  ENOSPC: () => 'Free some disk space; what waits is written then.',
  EDQUOT: () => 'Free some of your disk quota; what waits is written then.',
  EROFS: (path) =>
    `${dirname(path)} is on a read-only disk: set WA_MAILBOX_DIR or WA_STATE_DIR to a folder that is not.`,
  EACCES: (path) => `Give this user the right to read and write ${dirname(path)} and ${path}.`,
  EPERM: (path) => `Give this user the right to read and write ${dirname(path)} and ${path}.`,
  ELOOP: (path) => `${path} is a link, which is never followed: replace it by an ordinary file, or remove it.`,
  ENOTDIR: (path) => `${dirname(path)} must be a folder: move away the file in its place.`,
};

/** Returns a `WaError` as it is. */
export function fileUnusable(path: string, cause: unknown): WaError {
  if (cause instanceof WaError) return cause;
  const { code, message } = cause as NodeJS.ErrnoException;
  const hint = repairs[code ?? '']?.(path) ?? `Look at ${path}; it must be an ordinary file of this user.`;
  return new WaError('file_unusable', `${path} cannot be used: ${code ?? message}`, { hint, cause });
}
