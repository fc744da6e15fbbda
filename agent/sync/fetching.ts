// When and how often the files of phone messages are fetched: each message by itself, so that a file that keeps failing holds
// up no other. Touches no file and no network.

import { WaError } from '../../protocol/errors.ts';
import type { PhoneFile } from '../../protocol/log.ts';
import type { HeldMessage } from '../journal/state.ts';
import type { Log } from '../log.ts';
import { createBackoff, pause } from './backoff.ts';
import type { Outages } from './outages.ts';
import { createPace } from './pace.ts';

export interface FetchingOptions {
  /** `projectKey()` */
  key: string;
  fetching: ReadonlyMap<string, HeldMessage>;
  /** Brings one file and gives its line for the coding agent. */
  bring(file: PhoneFile, messageId: string, position: number): Promise<string>;
  /** All files are here or given up; takes the message out of `fetching`. May reject: then it is called again. */
  settle(messageId: string, lines: string[]): Promise<void>;
  /** Files that the message comes without, with the reason of each. */
  onMissing(messageId: string, missing: readonly string[]): void;
  clock: () => number;
  random: () => number;
  log: Log;
  outages: Outages;
  signal: AbortSignal;
}

/** A message must not wait for ever for its picture. */
const giveUpAfterMs = 10 * 60_000;
const downloadsAtOnce = 3;

/** The returned function resolves when nothing waits any more; it never rejects. */
export function createFetching(options: FetchingOptions): () => Promise<void> {
  const { key, fetching, clock, log, outages, signal } = options;
  const part = `${key} files`;
  const pace = createPace();
  const inSlot = createSlots(downloadsAtOnce);
  const tasks = new Map<string, Promise<void>>();

  async function fetchMessage(id: string): Promise<void> {
    const backoff = createBackoff({ firstMs: 500, maxMs: 30_000, random: options.random });
    const giveUpAt = clock() + giveUpAfterMs;
    const lines: string[] = [];
    const missing: string[] = [];
    let lastReason: string | undefined;
    while (fetching.has(id) && !signal.aborted) {
      const file = fetching.get(id)?.row.files?.[lines.length];
      if (file === undefined) {
        if (await settled(id, lines, missing)) return;
        await pause(backoff.next(), signal);
        continue;
      }
      const outcome = await tryFile(file, id, lines.length);
      if (signal.aborted) return;
      if ('line' in outcome) {
        lines.push(outcome.line);
      } else {
        const { error } = outcome;
        const askedMs = error.retryAfterMs ?? 0;
        // A pause of hours is obeyed by not asking again: the text must not wait that long.
        const isLate = clock() + askedMs > giveUpAt;
        // What ends at the same place twice was not cut on the way: the platform has no more of it.
        const endsThere = error.code === 'relay_bad_answer' && error.message === lastReason;
        if (error.retryable && !isLate && !endsThere) {
          lastReason = error.message;
          await pause(backoff.next(askedMs), signal);
          continue;
        }
        log('warn', 'file given up', { project: key, id, code: error.code });
        outages.left(part);
        lines.push(`[${file.kind} ${file.name}: could not be fetched, ${error.message}]`);
        missing.push(`${file.name}: ${error.message}`);
      }
      lastReason = undefined;
      backoff.reset();
    }
  }

  async function tryFile(
    file: PhoneFile,
    id: string,
    position: number,
  ): Promise<{ line: string } | { error: WaError }> {
    try {
      const line = await inSlot(async () => {
        await pace.turn(signal);
        return options.bring(file, id, position);
      });
      pace.giveBack();
      outages.worked(part);
      return { line };
    } catch (cause) {
      if (!signal.aborted) outages.failed(part, cause);
      const unknown = () => new WaError('internal', 'unknown error', { cause, retryable: true });
      return { error: cause instanceof WaError ? cause : unknown() };
    }
  }

  async function settled(id: string, lines: string[], missing: readonly string[]): Promise<boolean> {
    try {
      await options.settle(id, lines);
    } catch {
      return false;
    }
    if (missing.length > 0) options.onMissing(id, missing);
    return true;
  }

  return async () => {
    while (fetching.size > 0 && !signal.aborted) {
      for (const id of fetching.keys()) {
        if (!tasks.has(id))
          tasks.set(
            id,
            fetchMessage(id).finally(() => tasks.delete(id)),
          );
      }
      await Promise.all(tasks.values());
    }
  };
}

/** Runs so many at once, in the order in which they were given. */
function createSlots(free: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
