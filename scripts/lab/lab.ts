// What all parts share: the program, built by the repository's own script in a temporary folder, so that nobody changes it
// meanwhile and dist/ stays as it is; and the end of that folder.

import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { directories } from '../../agent/paths.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = [
  'agent',
  'hooks',
  'protocol',
  'worker',
  'scripts/build.ts',
  'scripts/licences.ts',
  'package.json',
  'tsconfig.json',
];

export interface Lab {
  distDir: string;
  /** Temporary; removed by `close`. */
  baseDir: string;
  cacheDir: string;
  /** Only what a program needs: nothing of the caller's settings may change what is measured. */
  env: Record<string, string>;
  /** Progress, for the person who waits. */
  say(line: string): void;
  close(): Promise<void>;
}

export async function openLab(say: (line: string) => void): Promise<Lab> {
  const baseDir = await mkdtemp(join(tmpdir(), 'wa-bench-'));
  const close = () => rm(baseDir, { recursive: true, force: true, maxRetries: 5 });
  try {
    await buildInto(baseDir);
  } catch (error) {
    await close();
    throw error;
  }
  const home = join(baseDir, 'home');
  await mkdir(home);
  return {
    distDir: join(baseDir, 'dist'),
    baseDir,
    cacheDir: directories({ env: process.env, platform: process.platform, home: homedir() }).cache,
    // The node that runs this comes first, so that the fallback and the empty script run on the same one.
    env: { PATH: [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter), HOME: home },
    say,
    close,
  };
}

async function buildInto(dir: string): Promise<void> {
  for (const source of sources) await cp(join(root, source), join(dir, source), { recursive: true });
  await symlink(join(root, 'node_modules'), join(dir, 'node_modules'));
  await promisify(execFile)(process.execPath, [join(dir, 'scripts', 'build.ts')]);
}
