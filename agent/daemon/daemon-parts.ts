// What all projects of the daemon share: journal, redaction, threads for large inputs, gates. Decides nothing itself.

import { createGates } from '../approvals/gate-files.ts';
import type { Binding, Config } from '../config.ts';
import { driverOf } from '../drivers/registry.ts';
import { createHeavy, type HeavyOptions } from '../heavy/heavy.ts';
import { openJournal } from '../journal/journal.ts';
import type { Log } from '../log.ts';
import { stateFiles } from '../paths.ts';
import { type Keys, watchKeys } from '../presence.ts';
import { isAlive } from '../process.ts';
import type { RelayClient, RelayPair } from '../relay/client.ts';
import { createOutages } from '../relay/outages.ts';
import { isInteractive } from '../terminal.ts';
import { readSigningKey } from './daemon-id.ts';
import { type OwnedAgents, ownedAgents } from './owned-agents.ts';
import type { ProjectDeps } from './project-parts.ts';
import { growingRedactor } from './relay-move.ts';
import { createServing } from './serving.ts';
import { surroundings } from './standing.ts';

export interface DaemonOptions {
  config: Config;
  bindings: readonly Binding[];
  client: RelayClient;
  daemonId: string;
  /** Tokens that must never leave in an answer, in addition to that of the relay. */
  secrets?: readonly string[];
  /** Reads address and token of the relay again, for `wa-sync rotate`; absent where they come from elsewhere. */
  readRelay?: (() => RelayPair | undefined) | undefined;
  version: string;
  platform: NodeJS.Platform;
  clock: () => number;
  random: () => number;
  log: Log;
  /** Of large inputs; a test has less time. */
  deadlinesMs?: HeavyOptions['deadlinesMs'];
  /** How long a refresh waits for the lock of an inbox file. */
  inboxLockMs?: number;
  /** Whether a process is a person's terminal; a test without one says so itself. */
  isInteractive?(pid: number, agent: string): Promise<boolean>;
  /** The coding agents of sessions that the daemon runs itself; a test has scripted ones. */
  ownedAgents?: OwnedAgents;
  /** Keys of a person; a test without a terminal says so itself. */
  keys?: Keys;
}

export type DaemonParts = Awaited<ReturnType<typeof openParts>>;

/** `undo` gets what closes each part. Errors: `journal_version`, `file_unusable`. */
export async function openParts(options: DaemonOptions, undo: (() => Promise<unknown>)[]) {
  const { config, client, version, platform, clock, random, log } = options;
  const journal = await openJournal(stateFiles(config.dirs.state).journal, clock);
  undo.push(() => journal.close());
  if (journal.unreadableLines > 0) log('error', 'journal lines unreadable', { lines: journal.unreadableLines });
  const { redaction, redactor, hide } = growingRedactor({
    own: [...(options.secrets ?? []), ...(config.relay ? [config.relay.token] : [])],
    kinds: config.redact,
    patterns: config.redact.patterns,
  });
  const heavy = createHeavy({ redaction, redactor, deadlinesMs: options.deadlinesMs, log });
  undo.push(() => heavy.close());
  const serving = createServing(config.dirs);
  undo.push(() => serving.release());
  const gates = createGates(config.dirs);
  const deps: ProjectDeps = {
    ...{ config, journal, client, redactor, clock, random, log },
    hold: serving.hold,
    daemon: { id: options.daemonId, startedAt: clock() },
    signingKey: await readSigningKey(config.dirs.config),
    inboxLockMs: options.inboxLockMs,
    redact: (text) => redactor(text).text,
    typesetterFor: heavy.typesetterFor,
    judge: heavy.judge,
    shows: heavy.shows,
    gates,
    outages: createOutages({ log, clock }),
    isAlive,
    surroundings: surroundings(version),
    ownedAgents: options.ownedAgents ?? ownedAgents({ config, env: process.env, platform, version, log }),
    keys: options.keys ?? watchKeys({ clock, platform }),
    isInteractive:
      options.isInteractive ?? ((pid, agent) => isInteractive(pid, { isHeadless: () => true, ...driverOf(agent) })),
  };
  /** One more token to hide, here and in the threads. */
  const hideToken = (token: string) => {
    hide(token);
    heavy.renew();
  };
  return { deps, gates, heavy, hideToken };
}
