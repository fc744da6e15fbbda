// What every step of setup gets: the machine, the person, the state so far.

import type { Prompter } from './prompter.ts';
import type { SetupState } from './state.ts';

export interface SetupOptions {
  /** False = never waits for the phone: looks once, says what is open. */
  waits: boolean;
  takesWebhook: boolean;
  /** Pairs with a group in place of the private chat. */
  group: boolean;
  /** What was asked for; undefined = ask, or keep what setup has done. */
  relay: { kind: 'local' } | { kind: 'account' } | { kind: 'temporary' } | { kind: 'url'; url: string } | undefined;
  script: string | undefined;
  service: boolean;
  /** The topic of this project; undefined = 0, or that of its binding. */
  topic: number | undefined;
}

export interface SetupWorld {
  readonly env: Record<string, string | undefined>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly cwd: string;
  /** The folder of the built parts. */
  readonly distDir: string;
  readonly options: SetupOptions;
  readonly prompter: Prompter;
  readonly state: SetupState;
  /** Writes the state. */
  save(): Promise<void>;
  readonly clock: () => number;
  /** Aborts with Ctrl+C. */
  readonly signal: AbortSignal;
}

export const defaultApiRoot = 'https://api.telegram.org';

/** The Bot API server, without a trailing slash. */
export function apiRootOf(env: SetupWorld['env']): string {
  return (env.TELEGRAM_API_ROOT?.trim() || defaultApiRoot).replace(/(?<!\/)\/+$/, '');
}
