// Small JSON files of ours that are replaced whole. Only the owner of a file writes it; a broken one reads as none.

import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { replaceFile } from './atomic.ts';

export async function readJsonFile(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Of several copies that of which `at` is the highest. */
export async function readNewestJson(paths: readonly string[]): Promise<unknown> {
  const copies = (await Promise.all(paths.map(readJsonFile))) as ({ at?: number } | undefined)[];
  return copies.reduce((newest, copy) => ((copy?.at ?? 0) > (newest?.at ?? 0) ? copy : newest));
}

export async function writeJsonFile(path: string, value: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await replaceFile(path, JSON.stringify(value));
}
