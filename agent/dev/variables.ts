// Which variables lead to the daemon of `wa-sync dev` and to no other, and their text for a shell.

import { join } from 'node:path';

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

/** One word for a POSIX shell. */
export function quoted(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
