// What is made once and kept in the folder of config.json: the name of this workstation towards the relay, and the key that signs entries.

import { randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { configFiles } from '../paths.ts';

/** Errors: `file_unusable`. */
export function readDaemonId(configDir: string): Promise<string> {
  return readOnce(configDir, { path: join(configDir, 'daemon.id'), form: /^[A-Za-z0-9-]{8,64}$/, make: randomUUID });
}

/** Errors: `file_unusable`. */
export function readSigningKey(configDir: string): Promise<string> {
  const make = () => randomBytes(32).toString('hex');
  return readOnce(configDir, { path: configFiles(configDir).signingKey, form: /^[0-9a-f]{64}$/, make });
}

/** Two first starts at once agree on one value: `link` fails for the second. */
async function readOnce(
  configDir: string,
  { path, form, make }: { path: string; form: RegExp; make(): string },
): Promise<string> {
  const existing = await readValue(path, form);
  if (existing) return existing;
  const temporary = join(configDir, `.${basename(path)}-${process.pid}-${randomUUID()}`);
  try {
    await mkdir(configDir, { recursive: true, mode: 0o700 });
    await writeFile(temporary, `${make()}\n`, { mode: 0o600, flag: 'wx' });
    await link(temporary, path).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'EEXIST') throw cause;
    });
    const value = await readValue(path, form);
    if (value) return value;
    throw new Error('it does not hold what belongs there');
  } catch (cause) {
    throw new WaError('file_unusable', `${path} cannot be made: ${(cause as Error).message}`, {
      hint: `Make ${configDir} writable and remove a broken ${path}; WA_CONFIG_DIR moves it.`,
      cause,
    });
  } finally {
    await rm(temporary, { force: true }).catch(() => {});
  }
}

async function readValue(path: string, form: RegExp): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const value = text.trim();
  return form.test(value) ? value : undefined;
}
