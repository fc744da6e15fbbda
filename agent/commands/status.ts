// `wa-sync status` and `wa-sync down`: ask the running daemon.

import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { errorBody, WaError } from '../../protocol/errors.ts';
import type { StatusAnswer } from '../../protocol/relay-api.ts';
import type { Config } from '../config.ts';
import type { DaemonStatus } from '../daemon-status.ts';
import { devPlace, devVariables, variablesText } from '../dev/variables.ts';
import { readUsage } from '../drivers/session-file.ts';
import { isDown, noteDown } from '../fs/down.ts';
import { readLockOwner } from '../fs/lock.ts';
import { readLinked } from '../fs/raw-file.ts';
import { askDaemon } from '../local-client.ts';
import { isOver } from '../process.ts';
import { createRelayClient } from '../relay/client.ts';
import { createScreen } from '../screen.ts';
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
  const columns = process.stdout.columns ?? 80;
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
      async (cause) => asWaError(await explained(cause, config.dirs, context.cwd)),
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

const maxSetupBytes = 64 * 1024;

/** The temporary account that setup made, as long as it is in `setup.json`. Never rejects. */
async function readClaim(configDir: string): Promise<Claim | undefined> {
  try {
    const file = await readLinked(join(configDir, 'setup.json'), maxSetupBytes);
    const { relay } = JSON.parse(file?.bytes.toString('utf8') ?? '{}');
    const isTemporary = relay?.kind === 'temporary' && typeof relay.claimUrl === 'string';
    return isTemporary && Number.isFinite(relay.expiresAt)
      ? { url: relay.claimUrl, expiresAt: relay.expiresAt }
      : undefined;
  } catch {
    return undefined;
  }
}

function asWaError(cause: unknown): WaError {
  return cause instanceof WaError ? cause : new WaError('internal', String(cause), { cause });
}

/** Adds to `daemon_not_running` what explains it: a `wa-sync dev` of this folder, which keeps its own directories, or `wa-sync down`. */
async function explained(cause: unknown, { state, runtime }: Config['dirs'], cwd: string): Promise<unknown> {
  if (!(cause instanceof WaError) || cause.code !== 'daemon_not_running') return cause;
  const because = (why: string, hint = cause.hint) =>
    new WaError(cause.code, `${cause.message}; ${why}`, { ...(hint === undefined ? {} : { hint }), cause });
  let dir = await realpath(cwd).catch(() => cwd);
  for (let above = ''; above !== dir; [above, dir] = [dir, dirname(dir)]) {
    const { baseDir, runtimeDir, lock } = devPlace({ state, runtime }, dir);
    const owner = await readLockOwner(lock);
    if (!owner || isOver(owner)) continue;
    const variables = variablesText(devVariables(baseDir, runtimeDir));
    return because(`\`wa-sync dev\` runs for ${dir} (pid ${owner.pid})`, `For that one: ${variables} wa-sync status`);
  }
  return (await isDown(state)) ? because('`wa-sync down` was said, so no hook starts it') : cause;
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
