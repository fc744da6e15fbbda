// What every command gets: the world, so that a command can be run in a test with another one.

import type { Config } from '../config.ts';

export interface CommandContext {
  env: Record<string, string | undefined>;
  platform: NodeJS.Platform;
  home: string;
  cwd: string;
  /** Where the built parts lie: launcher, fallback, Worker. */
  distDir: string;
  /** Reads environment and config.json. Errors: `bad_config`. */
  loadConfig(): Config;
  /** To stdout, with what a terminal would not show made visible: texts of others may stand in it. */
  out(line: string): void;
  /** One line to stderr: progress, not data. */
  note(line: string): void;
}
