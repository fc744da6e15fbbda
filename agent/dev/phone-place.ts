// Where the phone page of a folder is found again after a restart: its port, and digests of the keys that open tabs hold. A key itself is
// in no file, from where the coding agent could read it and act as the owner.

import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';

export interface PhonePlace {
  /** 0 = none is remembered, or another program has it. */
  port: number;
  /** SHA-256 of the keys of earlier starts, hex. */
  keys: readonly string[];
}

/** A tab that was opened so many starts ago needs the printed address. */
const keptKeys = 8;

const fileOf = (baseDir: string) => join(baseDir, 'phone.json');

export async function readPhonePlace(baseDir: string): Promise<PhonePlace> {
  const none = { port: 0, keys: [] };
  const text = await readFile(fileOf(baseDir), 'utf8').catch(() => undefined);
  if (text === undefined) return none;
  try {
    const { port, keys } = JSON.parse(text) as { port?: unknown; keys?: unknown };
    return {
      port: typeof port === 'number' && (await isFree(port)) ? port : 0,
      keys: Array.isArray(keys) ? keys.filter((each) => /^[0-9a-f]{64}$/.test(String(each))).slice(-keptKeys) : [],
    };
  } catch {
    return none;
  }
}

/** Never rejects: without it, tabs are opened anew. */
export async function keepPhonePlace(baseDir: string, { port, keys }: PhonePlace, key: string): Promise<void> {
  const text = JSON.stringify({ port, keys: [...keys, digestOf(key)].slice(-keptKeys) });
  await writeFile(fileOf(baseDir), `${text}\n`, { mode: 0o600 }).catch(() => {});
}

export function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

function isFree(port: number): Promise<boolean> {
  if (!Number.isInteger(port) || port < 1024 || port > 65_535) return Promise.resolve(false);
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
