// Watches what other users of the machine could see of a run: arguments and environment of its processes, and the files that it leaves.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface ProcessWatch {
  /** Arguments of every process of the run, and the environment of those that wa-sync itself started. */
  stop(): { argv: string[]; environ: string[] };
}

/** The processes of a run: their environment names its folder `root`. */
export function processesOf(root: string): { pid: number; env: string; args: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const env = readFileSync(`/proc/${name}/environ`, 'utf8');
        if (!env.includes(root)) return [];
        const args = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return [{ pid: Number(name), env, args }];
      } catch {
        // It has ended.
        return [];
      }
    });
}

export function watchProcesses(root: string): ProcessWatch {
  const argv = new Set<string>();
  const environ = new Set<string>();
  const look = () => {
    for (const { env, args } of processesOf(root)) {
      argv.add(args);
      // What the person started has what the person gave.
      if (!/ setup( |$)/.test(args)) environ.add(env);
    }
  };
  const timer = setInterval(look, 20);
  return {
    stop() {
      clearInterval(timer);
      look();
      return { argv: [...argv], environ: [...environ] };
    },
  };
}

/** The files below `root` that hold one of the secrets, with their modes. Links are not followed. */
export function filesWith(root: string, secrets: readonly string[]): { name: string; mode: string }[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      const text = textOf(path);
      return secrets.some((secret) => text.includes(secret));
    })
    .map((path) => ({ name: path.slice(root.length + 1), mode: (statSync(path).mode & 0o777).toString(8) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Empty for a file that is gone meanwhile, as a database that is in use makes and removes. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw cause;
  }
}
