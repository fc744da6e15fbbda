// The bound project above a folder, with or without a daemon. Reads only.

import { findBinding } from '../binding.ts';
import type { Binding, Config } from '../config.ts';
import { stateFiles } from '../paths.ts';
import { readJsonFile } from './json-file.ts';

/** Undefined = not bound. A daemon started without config.json leaves the folder that it serves in `bound.json`. */
export async function findServed(cwd: string, config: Config): Promise<Binding | undefined> {
  if (config.bindings.length > 0) return findBinding(cwd, config.bindings);
  const stored = (await readJsonFile(stateFiles(config.dirs.state).bound)) as { bindings?: Binding[] } | undefined;
  return findBinding(cwd, Array.isArray(stored?.bindings) ? stored.bindings : []);
}
