// What every command gets from the process, so that a test can run a command in another world.

import type { Config } from '../config.ts';
import type { Progress } from '../progress.ts';

export interface CommandContext {
  env: Record<string, string | undefined>;
  platform: NodeJS.Platform;
  home: string;
  cwd: string;
  /** The folder of the built parts: launcher, fallback, Worker. */
  distDir: string;
  /** Reads environment and config.json. Errors: `bad_config`. */
  loadConfig(): Config;
  /** Writes to stdout. Characters that a terminal would hide become visible, because the line may hold foreign text. */
  out(line: string): void;
  /** One line to stderr: progress, not data. */
  note(line: string): void;
  /** On stderr: what takes longer than a second is seen to work. */
  progress: Progress;
}
