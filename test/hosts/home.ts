// A home and a project in which no coding agent has run yet.
// Must never read the developer's own home, key or proxy: the environment is built from nothing.

import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface HostHome {
  /** HOME of the agent. */
  home: string;
  /** The default working directory. */
  project: string;
  /** The whole environment of the agent. */
  env: Record<string, string>;
  close(): Promise<void>;
}

/** The root has the home in it, and room for what must lie outside of the home. */
export async function emptyHome(agent: string, projectName = 'my project'): Promise<HostHome & { root: string }> {
  const root = await realpath(await mkdtemp(join(tmpdir(), `wa-${agent}-`)));
  const home = join(root, 'home');
  const project = join(home, projectName);
  const temporary = join(root, 'tmp');
  for (const folder of [project, temporary]) await mkdir(folder, { recursive: true });
  return {
    root,
    home,
    project,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home,
      TMPDIR: temporary,
      LANG: 'C.UTF-8',
      TERM: 'xterm-256color',
    },
    close: () => rm(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}
