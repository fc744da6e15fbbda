// The daemon: one per user and machine. Builds, starts, stops and delegates; what it should do stands in other modules.

import { mkdir, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { dirname } from 'node:path';
import { projectKey } from '../../protocol/ids.ts';
import { refuseDoubles } from '../config-check.ts';
import { http } from '../http.ts';
import { listener } from '../local-server/serve.ts';
import { listen, prepareSocket } from '../local-server/socket.ts';
import { retireOthers } from '../mailbox/served.ts';
import { endMarked } from '../owned/leftover.ts';
import { dropOwnedMarks } from '../owned-marks.ts';
import { stateFiles } from '../paths.ts';
import { pruneAnswers } from '../relay/full-answers.ts';
import { accountReminder } from './account-reminder.ts';
import { type DaemonOptions, openParts } from './daemon-parts.ts';
import { createLocal } from './local.ts';
import { lockForDaemon } from './lock.ts';
import { type RunningProject, startProject } from './project.ts';
import { startTicker } from './ticker.ts';

export interface Daemon {
  status(): object;
  /** Resolves when the daemon ended: `stop`, `wa-sync down`, or for good because another start took over. */
  readonly finished: Promise<'stopped' | 'superseded'>;
  stop(): Promise<void>;
}

const hint = ' Where both find none, its runtime directory was removed: end it with `kill <process>`.';

/** Errors: `bad_config` for two bindings of one folder or one chat, `daemon_running`, `journal_version`, `file_unusable`, `runtime_dir_unusable`, `socket_path_too_long`. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { config, client, version, platform, clock, log } = options;
  refuseDoubles(options.bindings, config.file);
  const files = stateFiles(config.dirs.state);
  await mkdir(dirname(files.lock), { recursive: true, mode: 0o700 }).catch(() => {});
  const lock = await lockForDaemon(files.lock, hint);
  const undo: (() => Promise<unknown>)[] = [() => lock.release()];
  try {
    const { address } = await prepareSocket(config.dirs.runtime, platform);
    const left = await endMarked(config.dirs.runtime);
    if (left > 0) log('warn', 'processes of owned sessions ended', { processes: left });
    await dropOwnedMarks(config.dirs.runtime);
    const parts = await openParts(options, undo);
    const { deps, gates } = parts;
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
    const { readRelay } = options;
    const local = createLocal({ parts, projects, version, readRelay, onDown: () => end('stopped') });
    const server = http.createServer(listener(local.app));
    // Closed before anything is served: what a dead daemon has closed must not open in between.
    await gates.start(
      options.bindings.map(({ mailbox, project }) => {
        const key = projectKey(mailbox, project);
        return [key, deps.journal.project(key).approvals.mode];
      }),
    );
    await listen(server, address);
    undo.push(async () => {
      // Held terminals are released: their answers must leave before their connections close.
      await Promise.all(projects.map((project) => project.turns.stop()));
      await closeServer(server);
      if (platform !== 'win32') await rm(address, { force: true });
    });
    log('info', 'daemon started', { version, pid: process.pid, projects: projects.length });

    const remind = accountReminder({
      configDir: config.dirs.config,
      clock,
      tell: async (about, textOf) => projects[0]?.tell(about, textOf),
    });
    const stopTicker = startTicker({ projects, client, remind, clock, log });
    undo.push(async () => stopTicker());
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
    return { status: local.status, finished, stop };
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
