// Notices changes of the two files by other programs: fs.watch as a hint, a stat every two seconds as the truth
// (network file systems and replaced folders tell nothing).

import { type FSWatcher, watch } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

export interface FileWatch {
  stop(): void;
}

const statIntervalMs = 2_000;

/** Calls `onChange(path)` after a change, also of our own writing; the receiver finds nothing new then. */
export function watchFiles(paths: readonly string[], onChange: (path: string) => void): FileWatch {
  const byDirectory = new Map<string, string[]>();
  for (const path of paths) byDirectory.set(dirname(path), [...(byDirectory.get(dirname(path)) ?? []), path]);
  const watchers = new Map<string, FSWatcher>();
  const seen = new Map<string, string>();
  let stopped = false;

  function hint(dir: string, files: string[]): void {
    if (watchers.has(dir)) return;
    try {
      const watcher = watch(dir, (_, name) => {
        for (const path of files) if (name === null || name === basename(path)) onChange(path);
      });
      watcher.unref();
      watcher.on('error', () => drop(dir));
      watchers.set(dir, watcher);
    } catch {
      // The system has no watches left: the stat below is enough.
    }
  }

  /** The first change in a new project is the folder itself. */
  function awaitFolder(dir: string): void {
    if (watchers.has(dir)) return;
    try {
      const watcher = watch(dirname(dir), (_, name) => {
        if (name === null || name === basename(dir)) check().catch(() => {});
      });
      watcher.unref();
      watcher.on('error', () => drop(dir));
      watchers.set(dir, watcher);
    } catch {
      // The stat below sees it.
    }
  }

  function drop(dir: string): void {
    watchers.get(dir)?.close();
    watchers.delete(dir);
  }

  async function check(): Promise<void> {
    for (const [dir, files] of byDirectory) {
      const folder = await lstat(dir).catch(() => undefined);
      const folderMark = folder?.isDirectory() ? `${folder.dev}:${folder.ino}` : '';
      if (seen.get(dir) !== folderMark) drop(dir);
      seen.set(dir, folderMark);
      if (stopped) return;
      if (folder?.isDirectory()) hint(dir, files);
      else awaitFolder(dir);
      for (const path of files) {
        const info = await lstat(path).catch(() => undefined);
        const mark = info ? `${info.ino}:${info.size}:${info.mtimeMs}` : '';
        if (seen.has(path) && seen.get(path) !== mark && !stopped) onChange(path);
        seen.set(path, mark);
      }
    }
  }

  check().catch(() => {});
  const timer = setInterval(() => check().catch(() => {}), statIntervalMs);
  return {
    stop() {
      stopped = true;
      clearInterval(timer);
      for (const dir of [...watchers.keys()]) drop(dir);
    },
  };
}
