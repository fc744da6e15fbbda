// The name of this workstation towards the relay, made once and kept beside config.json.

import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';

/** Two first starts at once agree on one id: `link` fails for the second. Errors: `file_unusable`. */
export async function readDaemonId(configDir: string): Promise<string> {
  const path = join(configDir, 'daemon.id');
  const existing = await readId(path);
  if (existing) return existing;
  const temporary = join(configDir, `.daemon.id-${process.pid}-${randomUUID()}`);
  try {
    await mkdir(configDir, { recursive: true, mode: 0o700 });
    await writeFile(temporary, `${randomUUID()}\n`, { mode: 0o600, flag: 'wx' });
    await link(temporary, path).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'EEXIST') throw cause;
    });
    const id = await readId(path);
    if (id) return id;
    throw new Error('it does not hold an id');
  } catch (cause) {
    throw new WaError('file_unusable', `${path} cannot be made: ${(cause as Error).message}`, {
      hint: `Make ${configDir} writable and remove a broken ${path}; WA_CONFIG_DIR moves it.`,
      cause,
    });
  } finally {
    await rm(temporary, { force: true }).catch(() => {});
  }
}

async function readId(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const id = text.trim();
  return /^[A-Za-z0-9-]{8,64}$/.test(id) ? id : undefined;
}
