// `wa-sync status` and `wa-sync down`: ask the running daemon.

import { setTimeout as pause } from 'node:timers/promises';
import { errorBody, WaError } from '../../protocol/errors.ts';
import type { StatusAnswer } from '../../protocol/relay-api.ts';
import type { Config } from '../config.ts';
import type { DaemonStatus } from '../daemon-status.ts';
import { readUsage } from '../drivers/session-file.ts';
import { isDown, noteDown } from '../fs/down.ts';
import { askDaemon } from '../local-client.ts';
import { createRelayClient } from '../relay/client.ts';
import { createScreen } from '../screen.ts';
import { readSetup, type SetupState } from '../setup/state.ts';
import { version } from '../version.ts';
import { visibleJson } from '../visible.ts';
import type { CommandContext } from './context.ts';
import { installedTroubles } from './hooks.ts';
import { type Claim, type StatusView, statusLines } from './status-view.ts';

const everyMs = 2_000;

export interface StatusOptions {
  json?: boolean;
  watch?: boolean;
}

/** Errors: `daemon_not_running`, `daemon_busy`, after what is known without the daemon was shown. */
export async function statusCommand({ json, watch }: StatusOptions, context: CommandContext): Promise<void> {
  const screen = createScreen(process.stdout, context.env);
  // A program that reads the lines finds each whole.
  const columns = process.stdout.columns ?? Number.POSITIVE_INFINITY;
  while (watch) {
    const view = await look(context);
    if (json) context.out(visibleJson(plain(view)));
    else screen.draw([...statusLines(view, columns), ...(screen.isTerminal ? [] : [{ text: '' }])]);
    await pause(everyMs);
  }
  const view = await look(context);
  if (json) context.out(visibleJson(plain(view)));
  // Of a daemon that does not answer the error says all.
  else if (!(view.daemon instanceof WaError)) screen.show(statusLines(view, columns));
  if (view.daemon instanceof WaError) throw view.daemon;
}

async function look(context: CommandContext): Promise<StatusView> {
  const config = context.loadConfig();
  const [daemon, answer, troubles, claim] = await Promise.all([
    askDaemon(config.dirs, 'GET', '/status').then(
      (status) => status as DaemonStatus,
      async (cause) => asWaError(await explained(cause, config.dirs)),
    ),
    askRelay(config.relay),
    installedTroubles(context),
    readClaim(config.dirs.config),
  ]);
  const projects = daemon instanceof WaError ? [] : daemon.projects;
  const usage = await Promise.all(
    projects.map(async ({ dir, agent, transcript }) => {
      const found =
        agent && transcript ? await readUsage({ agent, path: transcript }).catch(() => undefined) : undefined;
      return found ? [[dir, found] as const] : [];
    }),
  );
  return {
    now: Date.now(),
    version,
    daemon,
    relay: config.relay && answer ? { url: config.relay.url, answer } : undefined,
    isLocal: config.isLocal,
    troubles,
    usage: new Map(usage.flat()),
    claim,
  };
}

/** For a program: what is missing is null, and an error is an object. */
function plain({ daemon, relay, troubles, usage, claim }: StatusView): object {
  const answer = relay?.answer ?? null;
  return {
    daemon: daemon instanceof WaError ? null : daemon,
    ...(daemon instanceof WaError ? errorBody(daemon) : {}),
    relay: answer instanceof WaError ? { error: answer.code } : answer,
    hooks: troubles,
    sessions: [...usage].map(([dir, used]) => ({ dir, ...used })),
    claim: claim ?? null,
  };
}

/** The temporary account that setup made. Undefined also where `setup.json` cannot be read, which setup itself reports. */
async function readClaim(configDir: string): Promise<Claim | undefined> {
  const { relay } = await readSetup(configDir).catch((): SetupState => ({}));
  return relay?.kind === 'temporary' ? { url: relay.claimUrl, expiresAt: relay.expiresAt } : undefined;
}

function asWaError(cause: unknown): WaError {
  return cause instanceof WaError ? cause : new WaError('internal', String(cause), { cause });
}

/** Adds to `daemon_not_running` that `wa-sync down` explains it. */
async function explained(cause: unknown, { state }: Config['dirs']): Promise<unknown> {
  if (!(cause instanceof WaError) || cause.code !== 'daemon_not_running' || !(await isDown(state))) return cause;
  const message = `${cause.message}; \`wa-sync down\` was said, so no hook starts it`;
  return new WaError(cause.code, message, { ...(cause.hint === undefined ? {} : { hint: cause.hint }), cause });
}

async function askRelay(
  relay: { url: string; token: string } | undefined,
): Promise<StatusAnswer | WaError | undefined> {
  if (!relay) return undefined;
  const client = createRelayClient(relay);
  try {
    return await client.status();
  } catch (cause) {
    return cause instanceof WaError ? cause : new WaError('internal', String(cause), { cause });
  } finally {
    await client.close();
  }
}

/** Errors: `daemon_not_running`, `daemon_busy`. */
export async function downCommand(context: CommandContext): Promise<void> {
  const { dirs } = context.loadConfig();
  // Before the daemon answers: one may be about to start, and from now on hooks start none.
  await noteDown(dirs.state);
  await askDaemon(dirs, 'POST', '/down');
  context.out('the daemon is stopping; hooks go on with the files alone, and start none until `wa-sync start`');
}
