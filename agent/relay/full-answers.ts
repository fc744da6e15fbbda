// Full answers of the coding agent, kept in the state directory while the phone may still ask for them.

import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '../crypto.ts';
import { writeAtomic } from '../fs/atomic.ts';

const keptMs = 7 * 24 * 3_600_000;

/** An entry id may be any text, a file name may not. */
function fileOf(dir: string, id: string): string {
  return join(dir, `${sha256Hex(id).slice(0, 32)}.md`);
}

/** Errors: `file_unusable`. */
export async function keepAnswer(dir: string, id: string, text: string): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await writeAtomic(fileOf(dir, id), text);
}

/** Undefined = never kept, or removed. */
export async function readAnswer(dir: string, id: string): Promise<string | undefined> {
  return readFile(fileOf(dir, id), 'utf8').catch(() => undefined);
}

/** Removes answers that the phone can no longer request. */
export async function pruneAnswers(dir: string, now: number): Promise<void> {
  for (const name of await readdir(dir).catch(() => [])) {
    const path = join(dir, name);
    const info = await stat(path).catch(() => undefined);
    if (info && now - info.mtimeMs > keptMs) await rm(path, { force: true });
  }
}
