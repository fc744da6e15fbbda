// The inbox file as any other program sees it: waits for its changes, and marks messages read as a script would.

import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, watch, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { InboxEntry } from '../../protocol/files.ts';

/** Runs `look` now and after each change of the folder until it gives a value. */
export function onChange<T>(path: string, withinMs: number, look: () => T | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const watcher = watch(dirname(path), check);
    // A file system may lose a hint; it must not lose the measurement.
    const tick = setInterval(check, 500);
    const timer = setTimeout(
      () => end(() => reject(new Error(`${path} did not change within ${withinMs} ms`))),
      withinMs,
    );
    function end(settle: () => void): void {
      watcher.close();
      clearInterval(tick);
      clearTimeout(timer);
      settle();
    }
    function check(): void {
      try {
        const found = look();
        if (found !== undefined) end(() => resolve(found));
      } catch (error) {
        end(() => reject(error));
      }
    }
    check();
  });
}

export function readEntries(path: string): InboxEntry[] {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as { messages: InboxEntry[] }).messages;
  } catch {
    // Not there yet.
    return [];
  }
}

/** What a script does: read, mark, temporary file, rename; no lock. Returns the ids that it took. */
export function takeUnread(path: string): string[] {
  const messages = readEntries(path);
  const unread = messages.filter((entry) => !entry.read);
  if (unread.length === 0) return [];
  const temporary = `${path}.${randomBytes(4).toString('hex')}`;
  const marked = messages.map((entry) => ({ ...entry, read: true }));
  writeFileSync(temporary, `${JSON.stringify({ messages: marked }, null, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, path);
  return unread.map((entry) => entry.id);
}

export interface Drained {
  /** When the first message was taken, and the last; both `performance.now()`. */
  firstAt: number;
  lastAt: number;
  /** Rewrites by the reader. */
  rounds: number;
}

/** Takes whatever is unread until `count` different messages were. */
export function drain(path: string, count: number, withinMs: number): Promise<Drained> {
  const taken = new Set<string>();
  let firstAt: number | undefined;
  let rounds = 0;
  return onChange(path, withinMs, () => {
    const ids = takeUnread(path);
    if (ids.length === 0) return undefined;
    rounds += 1;
    firstAt ??= performance.now();
    for (const id of ids) taken.add(id);
    return taken.size >= count ? { firstAt, lastAt: performance.now(), rounds } : undefined;
  });
}
