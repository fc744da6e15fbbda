// The one writer of config.json: changes the keys that setup owns, keeps every other key, and never replaces a file that it cannot read.

import { mkdir, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { WaError } from '../../protocol/errors.ts';
import { fileUnusable, writeAtomic } from '../fs/atomic.ts';

export type ConfigContent = Record<string, unknown>;

/** Empty when there is none. Errors: `bad_config` for a file that is no JSON object, `file_unusable`. */
export async function readConfigFile(path: string): Promise<ConfigContent> {
  const text = await readFile(path, 'utf8').catch((cause) => {
    if (cause.code === 'ENOENT') return '{}';
    throw fileUnusable(path, cause);
  });
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Reported below: the parser's own message would quote the file, which may hold a token.
  }
  throw new WaError('bad_config', `${path} is not a JSON object, so setup leaves it alone`, {
    hint: `Repair or remove ${path}, then run \`wa-sync setup\` again.`,
  });
}

/** Writes the file with mode 600 unless it is so already. True = something changed. Errors: as `readConfigFile`. */
export async function changeConfig(path: string, change: (content: ConfigContent) => ConfigContent): Promise<boolean> {
  const before = await readConfigFile(path);
  const after = change(before);
  const mode = (await stat(path).catch(() => undefined))?.mode;
  const isPrivate = process.platform === 'win32' || (mode !== undefined && (mode & 0o077) === 0);
  if (isPrivate && isDeepStrictEqual(before, after)) return false;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch((cause) => {
    throw fileUnusable(path, cause);
  });
  await writeAtomic(path, `${JSON.stringify(after, null, 2)}\n`);
  return true;
}
