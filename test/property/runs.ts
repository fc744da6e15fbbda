// How long the properties are tried, and where their files lie.

import { existsSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** `WA_PROPERTY_RUNS=20` tries twenty times as much, for a night. */
export function runs(usual: number): number {
  return Math.ceil(usual * Number(process.env.WA_PROPERTY_RUNS ?? 1));
}

/** In memory where the system has such a folder: what is tried here is order, and thousands of fsyncs only cost time. */
export function quickFolder(): string {
  return existsSync('/dev/shm') ? '/dev/shm' : realpathSync(tmpdir());
}
