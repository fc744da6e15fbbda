// A temporary home folder with a project in it, and snapshots of whole trees. Removed by `close`.

import { lstat, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

export interface TemporaryHome {
  root: string;
  home: string;
  project: string;
  /** Path -> mode and content ("dir" for a folder) of everything below the root. */
  snapshot(): Promise<Record<string, string>>;
  write(path: string, text: string, mode?: number): Promise<string>;
  close(): Promise<void>;
}

/** `name` is the name of the root folder, to try paths that shells stumble over. */
export async function temporaryHome(name = 'home'): Promise<TemporaryHome> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'wa-home-')));
  const root = join(base, name);
  const home = join(root, 'dev');
  const project = join(home, 'project');
  await mkdir(project, { recursive: true });
  return {
    root,
    home,
    project,
    async snapshot() {
      const entries = await readdir(root, { recursive: true, withFileTypes: true });
      const pairs = await Promise.all(
        entries.map(async (entry) => {
          const path = join(entry.parentPath, entry.name);
          const mode = ((await lstat(path)).mode & 0o777).toString(8);
          return [
            relative(root, path),
            `${mode} ${entry.isDirectory() ? 'dir' : await readFile(path, 'utf8')}`,
          ] as const;
        }),
      );
      return Object.fromEntries(pairs.sort(([a], [b]) => (a < b ? -1 : 1)));
    },
    async write(path, text, mode = 0o644) {
      const file = join(root, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text, { mode });
      return file;
    },
    close: () => rm(base, { recursive: true, force: true }),
  };
}
