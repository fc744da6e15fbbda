// What most tests of the daemon begin with: an empty folder, a journal in it, and a clock that only the test moves.

import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Journal, openJournal } from '../../agent/journal/journal.ts';
import type { Progress } from '../../agent/progress.ts';

/** The real path of an empty folder, removed once the test is over. Called in a test or in `beforeEach`. */
export async function temporaryFolder(): Promise<string> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'wa-test-')));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

export interface TestClock {
  /** Epoch milliseconds. */
  now(): number;
  advance(ms: number): void;
}

export function testClock(startAt = Date.parse('2026-02-15T15:00:00Z')): TestClock {
  let at = startAt;
  return {
    now: () => at,
    advance(ms) {
      at += ms;
    },
  };
}

/** The journal of `dir`; opening it again is what a restarted daemon does. */
export function journalIn(dir: string, { now } = testClock()): Promise<Journal> {
  return openJournal(join(dir, 'journal.jsonl'), now);
}

/** Of a command whose test does not look at progress. */
export const noProgress: Progress = { during: (_label, work) => work() };
