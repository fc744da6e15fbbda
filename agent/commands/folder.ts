// The folder that an option of the command line names.

import { realpath, stat } from 'node:fs/promises';
import { WaError } from '../../protocol/errors.ts';

/** The real path. Errors: `bad_arguments`. */
export async function existingFolder(dir: string): Promise<string> {
  const real = await realpath(dir).catch(() => undefined);
  if (real && (await stat(real)).isDirectory()) return real;
  throw new WaError('bad_arguments', `--project ${dir} is not a folder`, { hint: 'Name an existing folder.' });
}
