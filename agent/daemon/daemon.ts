// The daemon: one per user and machine. Builds, starts, stops and delegates; what it should do stands in other modules.

import { mkdir, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { dirname } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { projectKey } from '../../protocol/ids.ts';
import { createGates } from '../approvals/gate-files.ts';
import { findBinding } from '../binding.ts';
import type { Binding, Config } from '../config.ts';
import { refuseDoubles } from '../config-check.ts';
import { driverOf } from '../drivers/registry.ts';
import { acquireLock } from '../fs/lock.ts';
import { createHeavy, type HeavyOptions } from '../heavy/heavy.ts';
import { http } from '../http.ts';
import { openJournal } from '../journal/journal.ts';
import { createHookApp, type HookRun, type SteerAction } from '../local-server/app.ts';
import { createMcpRoutes } from '../local-server/mcp-routes.ts';
import { createOwnedRoutes } from '../local-server/owned-routes.ts';
import { listener } from '../local-server/serve.ts';
import { listen, prepareSocket } from '../local-server/socket.ts';
import type { Log } from '../log.ts';
import { retireOthers } from '../mailbox/served.ts';
import { endMarked } from '../owned/leftover.ts';
import { dropOwnedMarks } from '../owned-marks.ts';
import { stateFiles } from '../paths.ts';
import { type Keys, watchKeys } from '../presence.ts';
import { isAlive } from '../process.ts';
import type { RelayClient, RelayPair } from '../relay/client.ts';
import { keepDocument } from '../relay/documents.ts';
import { pruneAnswers } from '../relay/full-answers.ts';
import { createOutages } from '../relay/outages.ts';
import { isInteractive } from '../terminal.ts';
import { accountReminder } from './account-reminder.ts';
import { readSigningKey } from './daemon-id.ts';
import { createHookCalls } from './hook-calls.ts';
import { type OwnedAgents, ownedAgents } from './owned-agents.ts';
import { type RunningProject, startProject } from './project.ts';
import { createRecentHooks } from './recent-hooks.ts';
import { growingRedactor, moveRelay } from './relay-move.ts';
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

export interface Daemon {
  status(): object;
  /** Resolves when the daemon ended: `stop`, `wa-sync down`, or for good because another start took over. */
  readonly finished: Promise<'stopped' | 'superseded'>;
  stop(): Promise<void>;
}

const tickMs = 2_000;
/** A tick that comes this much too late means that the machine slept or its clock was set. */
const jumpMs = 10_000;

/** Errors: `bad_config` for two bindings of one folder or one chat, `daemon_running`, `journal_version`, `file_unusable`, `runtime_dir_unusable`, `socket_path_too_long`. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { config, client, version, platform, clock, log } = options;
  refuseDoubles(options.bindings, config.file);
  const files = stateFiles(config.dirs.state);
  const lock = await lockDaemon(files.lock);
  const undo: (() => Promise<unknown>)[] = [() => lock.release()];
  try {
    const { address } = await prepareSocket(config.dirs.runtime, options.platform);
    const left = await endMarked(config.dirs.runtime);
    if (left > 0) log('warn', 'processes of owned sessions ended', { processes: left });
    await dropOwnedMarks(config.dirs.runtime);
    const journal = await openJournal(files.journal, clock);
    undo.push(() => journal.close());
    if (journal.unreadableLines > 0) log('error', 'journal lines unreadable', { lines: journal.unreadableLines });
    const startedAt = clock();
    const { redaction, redactor, hide } = growingRedactor({
      own: [...(options.secrets ?? []), ...(config.relay ? [config.relay.token] : [])],
      kinds: config.redact,
      patterns: config.redact.patterns,
    });
    const redact = (text: string) => redactor(text).text;
    const heavy = createHeavy({ redaction, redactor, deadlinesMs: options.deadlinesMs, log });
    undo.push(() => heavy.close());
    const gates = createGates(config.dirs);
    const serving = createServing(config.dirs);
    undo.push(() => serving.release());
    const deps = {
      config,
      hold: serving.hold,
      journal,
      client,
      daemon: { id: options.daemonId, startedAt },
      signingKey: await readSigningKey(config.dirs.config),
      inboxLockMs: options.inboxLockMs,
      redact,
      redactor,
      typesetterFor: heavy.typesetterFor,
      judge: heavy.judge,
      shows: heavy.shows,
      gates,
      clock,
      random: options.random,
      log,
      outages: createOutages({ log, clock }),
      isAlive,
      surroundings: surroundings(options.version),
      ownedAgents: options.ownedAgents ?? ownedAgents({ config, env: process.env, platform, version, log }),
      keys: options.keys ?? watchKeys({ clock, platform: options.platform }),
      isInteractive:
        options.isInteractive ??
        ((pid, agent) => {
          const driver = driverOf(agent);
          return isInteractive(pid, { isHeadless: () => true, ...driver });
        }),
    };
    const projects: RunningProject[] = [];
    undo.push(() => Promise.all(projects.map((project) => project.stop())));
    for (const binding of options.bindings) {
      projects.push(await startProject(binding, deps));
    }
    await pruneAnswers(files.answers, clock());
    await retireOthers(config.dirs.config, options.bindings).catch((cause) =>
      log('warn', 'former bindings not retired', { error: (cause as Error).message }),
    );

    let end: (why: 'stopped' | 'superseded') => void = () => {};
    const ended = new Promise<'stopped' | 'superseded'>((resolve) => {
      end = resolve;
    });
    const status = () => ({
      version: options.version,
      pid: process.pid,
      startedAt,
      daemonId: options.daemonId,
      threads: heavy.threads(),
      hooks: recent.list(),
      projects: projects.map((project) => project.status()),
    });
    /** The asker may just have repaired a policy. */
    const statusNow = async () => {
      await Promise.all(projects.map((project) => project.guard.readPolicies()));
      return status();
    };
    const recent = createRecentHooks(clock);
    const answerHook = createHookCalls({ projects, gates, clock, log });
    const onHook = (run: HookRun) => {
      recent.note(run);
      return answerHook(run);
    };
    const onRelay = () =>
      moveRelay({
        client,
        readRelay: options.readRelay,
        hide(token) {
          hide(token);
          heavy.renew();
        },
        wake: () => {
          for (const project of projects) project.pull.wake();
        },
        log,
      });
    const app = createHookApp(
      {
        clock,
        log,
        onHook,
        status: statusNow,
        onDown: () => end('stopped'),
        onSendFile,
        onRelay,
        onHello: async ({ id, cwd }) => (await servedBy(cwd)).hello(id),
        onSteer,
      },
      {
        ...createMcpRoutes(async (cwd) => (await servedBy(cwd)).mcp),
        ...createOwnedRoutes(async (cwd) => (await servedBy(cwd)).owned.orders),
      },
    );
    const server = http.createServer(listener(app));
    // Closed before anything is served: what a dead daemon has closed must not open in between.
    await gates.start(
      options.bindings.map(({ mailbox, project }) => {
        const key = projectKey(mailbox, project);
        return [key, journal.project(key).approvals.mode];
      }),
    );
    await listen(server, address);
    undo.push(async () => {
      // Held terminals are released: their answers must leave before their connections close.
      await Promise.all(projects.map((project) => project.turns.stop()));
      await closeServer(server);
      if (options.platform !== 'win32') await rm(address, { force: true });
    });
    log('info', 'daemon started', { version: options.version, pid: process.pid, projects: projects.length });

    const bindings = projects.map((project) => project.binding);
    async function servedBy(cwd: string): Promise<RunningProject> {
      const binding = await findBinding(cwd, bindings);
      const project = projects.find((each) => each.binding === binding);
      if (project) return project;
      throw new WaError('not_bound', `${cwd} lies in no folder that this daemon serves`, {
        hint: 'See the folders with `wa-sync status`.',
      });
    }

    async function onSteer({ action, args, cwd }: { action: SteerAction; args: string; cwd: string }): Promise<string> {
      return (await servedBy(cwd)).steer(action, args);
    }

    async function onSendFile({ path, caption, cwd }: { path: string; caption: string; cwd: string }): Promise<void> {
      const project = await servedBy(cwd);
      await project.outbox.sendDocument(await keepDocument(files.documents, path, caption, deps.redact));
    }

    const remind = accountReminder({
      configDir: config.dirs.config,
      clock,
      tell: async (about, textOf) => projects[0]?.tell(about, textOf),
    });
    let lastTick = clock();
    const ticker = setInterval(() => {
      const late = clock() - lastTick - tickMs;
      lastTick = clock();
      if (Math.abs(late) > jumpMs) {
        log('info', 'clock jumped', { lateMs: late });
        client.reconnect();
        for (const project of projects) project.pull.wake();
      }
      void remind();
      for (const project of projects) {
        project.stands();
        Promise.all([
          project.guard.tick(),
          project.turns.checkProcess(),
          project.mcp.check(),
          project.held.tend(),
        ]).catch((cause) => log('error', 'periodic check failed', { error: (cause as Error).message }));
      }
    }, tickMs);
    undo.push(async () => clearInterval(ticker));
    for (const project of projects) {
      void project.pull.finished.then((why) => {
        if (why === 'superseded') end('superseded');
      });
    }

    let stopping: Promise<void> | undefined;
    const stop = () => {
      end('stopped');
      stopping ??= unwind(undo).then(() => log('info', 'daemon stopped'));
      return stopping;
    };
    const finished = ended.then(async (why) => {
      await stop();
      return why;
    });
    return { status, finished, stop };
  } catch (cause) {
    await unwind(undo);
    throw cause;
  }
}

/** Last made, first undone; one that fails must not keep the others. */
async function unwind(undo: (() => Promise<unknown>)[]): Promise<void> {
  for (const step of undo.splice(0).reverse()) await step().catch(() => {});
}

const closeWithinMs = 500;

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), closeWithinMs);
  await closed;
  clearTimeout(timer);
}

async function lockDaemon(path: string): Promise<{ release(): Promise<void> }> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch(() => {});
  try {
    return await acquireLock(path, { timeoutMs: 0, short: false });
  } catch (cause) {
    if (!(cause instanceof WaError) || cause.code !== 'lock_timeout') throw cause;
    throw new WaError('daemon_running', `a daemon of this user already runs: ${cause.message}`, {
      hint: 'See it with `wa-sync status`, stop it with `wa-sync down`. Where both find none, its runtime directory was removed: end it with `kill <process>`.',
      cause,
    });
  }
}
