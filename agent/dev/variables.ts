// The variables that select the daemon of `wa-sync dev`.

import { createHash } from 'node:crypto';
import { join } from 'node:path';

/** The folders of `wa-sync dev` for a project; `lock` is held while dev runs. */
export function devPlace(dirs: { state: string; runtime: string }, projectDir: string) {
  const name = createHash('sha256').update(projectDir).digest('hex').slice(0, 12);
  const baseDir = join(dirs.state, 'dev', name);
  return { baseDir, runtimeDir: join(dirs.runtime, `dev-${name.slice(0, 6)}`), lock: join(baseDir, 'dev') };
}

/** The folders of one stack. */
export function devVariables(baseDir: string, runtimeDir: string) {
  return {
    WA_STATE_DIR: join(baseDir, 'state'),
    WA_CONFIG_DIR: join(baseDir, 'config'),
    WA_RUNTIME_DIR: runtimeDir,
  };
}
