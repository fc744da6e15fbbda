// Stable copies of the package in the data directory: a service must not run from the npx cache, or from a folder that the next
// installation of npm rewrites under it. A copy's name is its version and a digest of its content, so a copy never changes.

import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { startRecordName } from '../../protocol/hook.ts';
import { randomHex } from '../crypto.ts';
import { fileUnusable } from '../fs/atomic.ts';
import { readLinked } from '../fs/raw-file.ts';

/** The running package: `dist`, and beside it the files without which it is not a package. */
export interface SourcePackage {
  distDir: string;
  version: string;
}

export interface PackageCopy {
  /** `<version>-<digest>`. */
  name: string;
  /** `dist` of the copy. */
  dir: string;
}

const appFolder = (dataDir: string) => join(dataDir, 'app');

export const programFile = 'wa-sync.js';

/** `type: module` of package.json is what makes the program run. */
const besideDist = ['package.json', 'LICENSE'];
const digestChars = 12;
const maxRecordBytes = 64 * 1024;

/** The copy that belongs to the running package, whether it exists or not. Errors: `file_unusable`. */
export async function expectedCopy(source: SourcePackage, dataDir: string): Promise<PackageCopy> {
  const root = dirname(source.distDir);
  const name = `${source.version}-${await digestOf(root, await filesOf(source.distDir))}`;
  return { name, dir: join(appFolder(dataDir), name, 'dist') };
}

/** Makes the copy unless it is there and whole. Errors: `file_unusable`. */
export async function copyPackage(source: SourcePackage, dataDir: string): Promise<PackageCopy> {
  const copy = await expectedCopy(source, dataDir);
  const target = dirname(copy.dir);
  if (target === dirname(source.distDir) || (await isWhole(copy))) return copy;
  const fresh = join(appFolder(dataDir), `.new-${randomHex(6)}`);
  try {
    await mkdir(fresh, { recursive: true, mode: 0o700 });
    const root = dirname(source.distDir);
    for (const path of await filesOf(source.distDir)) {
      await cp(join(root, path), join(fresh, path), { preserveTimestamps: true });
    }
    // One that was damaged.
    await rm(target, { recursive: true, force: true });
    await rename(fresh, target);
    return copy;
  } catch (cause) {
    await rm(fresh, { recursive: true, force: true }).catch(() => {});
    throw fileUnusable(target, cause);
  }
}

/** `dist` for what is recorded for later: of the running package, or of its copy when the package lies in the npx cache. Errors: `file_unusable`. */
export async function lastingDist(
  source: SourcePackage,
  dataDir: string,
  { makes }: { makes: boolean },
): Promise<string> {
  if (!source.distDir.split(sep).includes('_npx')) return source.distDir;
  return (await (makes ? copyPackage : expectedCopy)(source, dataDir)).dir;
}

/** Removes every copy but `kept` and those from which hooks start a daemon. Errors: `file_unusable`. */
export async function removeCopies(dataDir: string, kept?: string): Promise<void> {
  const folder = appFolder(dataDir);
  const inUse = [kept, ...(await copiesOfHooks(dataDir))];
  const names = await readdir(folder).catch(() => [] as string[]);
  for (const name of names) if (!inUse.includes(name)) await remove(join(folder, name));
  if (names.every((name) => !inUse.includes(name))) await remove(folder);
}

async function copiesOfHooks(dataDir: string): Promise<(string | undefined)[]> {
  const hooks = join(dataDir, 'hooks');
  const records = (await readdir(hooks).catch(() => [] as string[])).map(async (version) => {
    const text = (await readLinked(join(hooks, version, startRecordName), maxRecordBytes))?.bytes.toString('utf8');
    return copyNamed(String(JSON.parse(text ?? '').program));
  });
  return Promise.all(records.map((record) => record.catch(() => undefined)));
}

/** The name of the copy that a launcher runs; undefined = it runs none. */
export function copyNamed(launcher: string): string | undefined {
  const end = launcher.search(/[\\/]dist[\\/]wa-sync\.js/);
  const before = launcher.slice(0, Math.max(end, 0));
  const name = before.slice(Math.max(before.lastIndexOf('/'), before.lastIndexOf('\\')) + 1);
  return name === '' ? undefined : name;
}

/** Whether the copy exists with the content that its name says. */
export async function isWhole({ name, dir }: PackageCopy): Promise<boolean> {
  try {
    return name.endsWith(`-${await digestOf(dirname(dir), await filesOf(dir))}`);
  } catch {
    return false;
  }
}

/** Relative to the folder that holds `dist`, sorted, with slashes. Leaves out what only the tests and a running hook write. */
async function filesOf(distDir: string): Promise<string[]> {
  const root = dirname(distDir);
  const entries = await readdir(distDir, { recursive: true, withFileTypes: true }).catch((cause) => {
    throw new WaError('file_unusable', `the package has no folder ${distDir}`, {
      hint: 'Install wa-sync again; in a clone: npm ci.',
      cause,
    });
  });
  const built = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !path.endsWith('.meta.json') && !path.startsWith('dist/compiled/'));
  const beside = (await readdir(root)).filter((name) => besideDist.includes(name));
  return [...built, ...beside].sort();
}

async function digestOf(root: string, paths: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const path of paths) {
    const bytes = await readFile(join(root, path)).catch((cause) => {
      throw fileUnusable(join(root, path), cause);
    });
    hash.update(`${path}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex').slice(0, digestChars);
}

async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch((cause) => {
    throw fileUnusable(path, cause);
  });
}
