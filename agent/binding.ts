// From a hook's working directory to the project it belongs to: the nearest bound folder above it, by real path.

import { realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import type { Binding } from './config.ts';

/** Undefined = not bound; the hook answers `{}` and nothing is ever created there. */
export async function findBinding(cwd: string, bindings: readonly Binding[]): Promise<Binding | undefined> {
  const real = await realpath(cwd).catch(() => cwd);
  let nearest: { binding: Binding; dir: string } | undefined;
  for (const binding of bindings) {
    const dir = await realpath(binding.dir).catch(() => binding.dir);
    const inside = real === dir || real.startsWith(dir.endsWith(sep) ? dir : dir + sep);
    if (inside && dir.length >= (nearest?.dir.length ?? 0)) nearest = { binding, dir };
  }
  return nearest?.binding;
}
