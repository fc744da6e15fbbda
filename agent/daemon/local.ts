// What the local socket asks of the daemon: hook runs, its status, and what a command wants of the project that serves a folder.
// Decides nothing itself.

import { WaError } from '../../protocol/errors.ts';
import { findBinding } from '../binding.ts';
import type { DaemonStatus } from '../daemon-status.ts';
import { createHookApp } from '../local-server/app.ts';
import { createMcpRoutes } from '../local-server/mcp-routes.ts';
import { createOwnedRoutes } from '../local-server/owned-routes.ts';
import { stateFiles } from '../paths.ts';
import type { RelayPair } from '../relay/client.ts';
import { keepDocument } from '../relay/documents.ts';
import type { DaemonParts } from './daemon-parts.ts';
import { createHookCalls } from './hook-calls.ts';
import type { RunningProject } from './project.ts';
import { createRecentHooks } from './recent-hooks.ts';
import { moveRelay } from './relay-move.ts';

export interface LocalOptions {
  parts: DaemonParts;
  projects: readonly RunningProject[];
  version: string;
  /** See `DaemonOptions`. */
  readRelay: (() => RelayPair | undefined) | undefined;
  /** For `wa-sync down`. */
  onDown(): void;
}

export function createLocal({ parts, projects, version, readRelay, onDown }: LocalOptions) {
  const { deps, gates, heavy, hideToken } = parts;
  const { config, client, daemon, redact, clock, log } = deps;
  const bindings = projects.map((project) => project.binding);
  const recent = createRecentHooks(clock);
  const answerHook = createHookCalls({ projects, gates, clock, log });

  async function servedBy(cwd: string): Promise<RunningProject> {
    const binding = await findBinding(cwd, bindings);
    const project = projects.find((each) => each.binding === binding);
    if (project) return project;
    throw new WaError('not_bound', `${cwd} lies in no folder that this daemon serves`, {
      hint: 'See the folders with `wa-sync status`.',
    });
  }

  const status = (): DaemonStatus => ({
    version,
    pid: process.pid,
    startedAt: daemon.startedAt,
    daemonId: daemon.id,
    threads: heavy.threads(),
    hooks: recent.list(),
    projects: projects.map((project) => project.status()),
  });

  const wake = () => {
    for (const project of projects) project.pull.wake();
  };

  const app = createHookApp(
    {
      clock,
      log,
      onHook(run) {
        recent.note(run);
        return answerHook(run);
      },
      async status() {
        // The asker may just have repaired a policy.
        await Promise.all(projects.map((project) => project.guard.readPolicies()));
        return status();
      },
      onDown,
      async onSendFile({ path, caption, cwd }) {
        const { outbox } = await servedBy(cwd);
        const { documents } = stateFiles(config.dirs.state);
        await outbox.sendDocument(await keepDocument(documents, path, caption, redact));
      },
      onRelay: () => moveRelay({ client, readRelay, hide: hideToken, wake, log }),
      onHello: async ({ id, cwd }) => (await servedBy(cwd)).hello(id),
      onSteer: async ({ action, args, cwd }) => (await servedBy(cwd)).steer(action, args),
    },
    {
      ...createMcpRoutes(async (cwd) => (await servedBy(cwd)).mcp),
      ...createOwnedRoutes(async (cwd) => (await servedBy(cwd)).owned.orders),
    },
  );
  return { app, status };
}
