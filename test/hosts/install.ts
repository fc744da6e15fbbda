// Brings what the suite drives before the first test, so that no test's time includes a download: the agents, tmux, and a
// copy of dist/ that a build in the same working copy cannot take away.

import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { bringHosts, tmux } from '../../scripts/hosts.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A built dist/ from which the repository's packages can be imported. */
    distDir: string;
  }
}

const repository = fileURLToPath(new URL('../..', import.meta.url));

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await bringHosts();
  await tmux();
  const cache = join(repository, '.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'hosts-suite-'));
  const distDir = join(folder, 'dist');
  await cp(join(repository, 'dist'), distDir, { recursive: true });
  project.provide('distDir', distDir);
  return () => rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
