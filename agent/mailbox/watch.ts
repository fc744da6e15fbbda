// Notices changes of the two files by other programs: fs.watch as a hint, a stat every two seconds as the truth, because network file
// systems and replaced folders send no hints.

import { type FSWatcher, watch } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

export interface FileWatch {
  stop(): void;
}

const statIntervalMs = 2_000;

/** For files of one folder: calls `onChange(path)` after a change, also after a write of wa-sync, which then finds nothing new. */
export function watchFiles(paths: readonly [string, ...string[]], onChange: (path: string) => void): FileWatch {
  const dir = dirname(paths[0]);
  let watcher: FSWatcher | undefined;
  /** Undefined = not looked at yet. */
  let folderMark: string | undefined;
  const marks = new Map<string, string>();
  let stopped = false;

  /** The first change in a new project is the folder itself, so a folder that is missing is awaited in its parent. */
  function hint(isThere: boolean): void {
    if (watcher) return;
    try {
      watcher = watch(isThere ? dir : dirname(dir), (_, changed) => {
        if (!isThere && (changed === null || changed === basename(dir))) check().catch(() => {});
        if (isThere) for (const path of paths) if (changed === null || changed === basename(path)) onChange(path);
      });
      watcher.unref();
      watcher.on('error', drop);
    } catch {
      // The system has no watches left: the stat is enough.
    }
  }

  function drop(): void {
    watcher?.close();
    watcher = undefined;
  }

  async function check(): Promise<void> {
    const folder = await lstat(dir).catch(() => undefined);
    const isThere = folder?.isDirectory() === true;
    const nextMark = isThere ? `${folder.dev}:${folder.ino}` : '';
    if (folderMark !== nextMark) drop();
    folderMark = nextMark;
    if (stopped) return;
    hint(isThere);
    for (const path of paths) {
      const info = await lstat(path).catch(() => undefined);
      const mark = info ? `${info.ino}:${info.size}:${info.mtimeMs}` : '';
      if (marks.has(path) && marks.get(path) !== mark && !stopped) onChange(path);
      marks.set(path, mark);
    }
  }

  check().catch(() => {});
  const timer = setInterval(() => check().catch(() => {}), statIntervalMs);
  return {
    stop() {
      stopped = true;
      clearInterval(timer);
      drop();
    },
  };
}
