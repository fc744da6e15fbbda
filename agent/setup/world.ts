// What every step of setup gets: the machine, the person, the state so far.

import type { Binding } from '../config.ts';
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

/** What the commands do for setup: hooks, daemon, service. */
export interface Machine {
  readonly configFile: string;
  /** The coding agents on the PATH. */
  agents(): Promise<readonly { name: string; title: string; path: string }[]>;
  /** False = they were installed like this already. Errors: those of the installer. */
  installHooks(agent: string): Promise<{ place: string; isNew: boolean; notes: readonly string[] }>;
  /** Whether a daemon serves these bindings with this version now. */
  isServed(bindings: readonly Binding[]): Promise<boolean>;
  /** The relay that the daemon of this machine runs; undefined = it has run none. */
  localRelay(): { url: string; token: string } | undefined;
  /** Ends a daemon that asks the platform for updates, and keeps hooks from starting it. True = one ran. Errors: `daemon_busy`, those of the service. */
  stopPolling(): Promise<boolean>;
  /** Ends a running daemon, starts one and waits until it answers. Errors: `child_failed`, `daemon_busy`. */
  startDaemon(say: (line: string) => void): Promise<void>;
  /** Undefined = no service manager here. */
  service(): Promise<{ title: string; installed: boolean; why?: string | undefined } | undefined>;
  installService(): Promise<readonly string[]>;
}

export const defaultApiRoot = 'https://api.telegram.org';

/** The Bot API server, without a trailing slash. */
export function apiRootOf(env: SetupWorld['env']): string {
  return (env.TELEGRAM_API_ROOT?.trim() || defaultApiRoot).replace(/(?<!\/)\/+$/, '');
}
