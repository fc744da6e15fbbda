// The variables that select the daemon of `wa-sync dev`, and their text for a shell.

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

/** `NAME=value` pairs, quoted for a POSIX shell. */
export function variablesText(env: Record<string, string>): string {
  return Object.entries(env)
    .map(([key, value]) => `${key}=${quoted(value)}`)
    .join(' ');
}

/** Quotes a text as one word for a POSIX shell. */
export function quoted(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
