// Finds the project of a working directory: the nearest bound folder above the directory, by real path.

import { realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import type { Binding } from './config.ts';

/** Undefined = not bound; the hook answers `{}` and nothing is ever created there. */
export async function findBinding(cwd: string, bindings: readonly Binding[]): Promise<Binding | undefined> {
  // A coding agent runs in the root of its project: nothing can be nearer, and no link needs to be resolved.
  const same = bindings.find(({ dir }) => dir === cwd);
  if (same) return same;
  const realName = (path: string) => realpath(path).catch(() => path);
  const [real, ...dirs] = await Promise.all([realName(cwd), ...bindings.map(({ dir }) => realName(dir))]);
  let nearest: { binding: Binding; dir: string } | undefined;
  for (const [at, binding] of bindings.entries()) {
    const dir = dirs[at] as string;
    const inside = real === dir || real.startsWith(dir.endsWith(sep) ? dir : dir + sep);
    if (inside && dir.length >= (nearest?.dir.length ?? 0)) nearest = { binding, dir };
  }
  return nearest?.binding;
}
