// `wa-sync start --detach` and `wa-sync restart`: a daemon without a terminal. Waits until the daemon answers, or says why it ended.

import { spawn } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isErrorCode, WaError } from '../../protocol/errors.ts';
import type { Config } from '../config.ts';
import { readLockOwner } from '../fs/lock.ts';
import { readLinked } from '../fs/raw-file.ts';
import { askDaemon } from '../local-client.ts';
import { directories, stateFiles } from '../paths.ts';
import { isOver } from '../process.ts';
import { lastingDist, programFile } from '../service/package-copy.ts';
import { startService, stopService } from '../service/service.ts';
import { serviceStatus } from '../service/service-status.ts';
import { serviceWorld } from '../service/world.ts';
import { version } from '../version.ts';
import type { CommandContext } from './context.ts';

const betweenAsksMs = 100;
/** The start reads the journal of weeks. */
const answersWithinMs = 30_000;
const endsWithinMs = 20_000;
const maxWordsBytes = 64 * 1024;

/** Errors: `daemon_running`, `child_failed`, and what the daemon itself ended with. */
export async function startDetached(context: CommandContext, cwd = context.cwd): Promise<void> {
  const { dirs } = context.loadConfig();
  const owner = await livingOwner(dirs.state);
  if (owner !== undefined) {
    throw new WaError('daemon_running', `a daemon of this user already runs: process ${owner}`, {
      hint: 'See it with `wa-sync status`, start it anew with `wa-sync restart`.',
    });
  }
  const pid = await context.progress.during('the daemon starts', () => launch(context, dirs, cwd));
  context.out(`wa-sync ${version} is running, pid ${pid}; stop it with \`wa-sync down\``);
  context.out(`log: ${stateFiles(dirs.state).log} (\`wa-sync logs -f\`)`);
}

/** By the service, when it runs the daemon. Errors: those of `startDetached` and of the service. */
export async function restartCommand(context: CommandContext): Promise<void> {
  const { dirs } = context.loadConfig();
  const world = serviceWorld(context, version);
  const service = await serviceStatus(world);
  if (service.installed && service.available) {
    const pid = await context.progress.during('the service starts anew', async () => {
      await stopService(world);
      await endDaemon(dirs);
      return startService(world);
    });
    context.out(`the service runs again${pid === undefined ? '' : `, pid ${pid}`}`);
    return;
  }
  const cwd = await context.progress.during('the daemon ends', () => endDaemon(dirs));
  await startDetached(context, cwd ?? context.cwd);
}

/** The folder that the ended daemon served first, in which one without bindings must start again. Errors: `daemon_busy`. */
export async function endDaemon(dirs: Config['dirs']): Promise<string | undefined> {
  const pid = await livingOwner(dirs.state);
  if (pid === undefined) return undefined;
  const status = (await askDaemon(dirs, 'GET', '/status')) as { projects?: { dir: string }[] };
  await askDaemon(dirs, 'POST', '/down');
  await untilGone(dirs.state, pid);
  return status.projects?.[0]?.dir;
}

/** For a service: ends the daemon that a hook or a person started, so that only one runs, and under supervision. Never rejects. */
export async function takeOver(dirs: Config['dirs']): Promise<void> {
  const pid = await livingOwner(dirs.state);
  if (pid === undefined) return;
  await askDaemon(dirs, 'POST', '/down').catch(() => {});
  await untilGone(dirs.state, pid).catch(() => {});
}

/** The process of the daemon of these directories; undefined = none runs. */
export async function livingOwner(state: string): Promise<number | undefined> {
  const owner = await readLockOwner(stateFiles(state).lock);
  return owner && !isOver(owner) ? owner.pid : undefined;
}

async function untilGone(state: string, pid: number): Promise<void> {
  for (let waited = 0; waited < endsWithinMs; waited += betweenAsksMs) {
    if ((await livingOwner(state)) !== pid) return;
    await delay(betweenAsksMs);
  }
  throw new WaError('daemon_busy', `the daemon (pid ${pid}) does not end`, {
    hint: `End it with \`kill ${pid}\`, then start it again; stored messages are kept.`,
  });
}

/** The pid of the daemon, once it answers. */
async function launch(context: CommandContext, dirs: Config['dirs'], cwd: string): Promise<number> {
  const { startLog } = stateFiles(dirs.state);
  mkdirSync(dirs.state, { recursive: true, mode: 0o700 });
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW = 0 } = constants;
  const log = openSync(startLog, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
  const child = spawn(process.execPath, [await program(context), 'start', '--quiet'], {
    cwd,
    env: context.env,
    detached: true,
    stdio: ['ignore', log, log],
    windowsHide: true,
  });
  closeSync(log);
  const ended = new Promise<number>((resolve) => {
    child.once('exit', (code) => resolve(code ?? 1));
    child.once('error', () => resolve(127));
  });
  child.unref();
  for (let waited = 0; waited < answersWithinMs; waited += betweenAsksMs) {
    const answer = await askDaemon(dirs, 'GET', '/status').catch(() => undefined);
    if ((answer as { pid?: number } | undefined)?.pid === child.pid && child.pid !== undefined) return child.pid;
    const code = await Promise.race([ended, delay(betweenAsksMs)]);
    if (code !== undefined) throw await lastWords(startLog, code);
  }
  throw new WaError('child_failed', `the daemon (pid ${child.pid}) does not answer`, {
    hint: `See ${startLog} and \`wa-sync logs\`; end it with \`kill ${child.pid}\`.`,
  });
}

/** A daemon outlives the npx cache. */
async function program({ distDir, ...world }: CommandContext): Promise<string> {
  return join(await lastingDist({ distDir, version }, directories(world).data, { makes: true }), programFile);
}

/** The error that the daemon printed, as its own command would. */
async function lastWords(startLog: string, code: number): Promise<WaError> {
  const text = (await readLinked(startLog, maxWordsBytes).catch(() => undefined))?.bytes.toString('utf8') ?? '';
  const lines = text.trimEnd().split('\n');
  const at = lines.findLastIndex((line) => line.startsWith('wa-sync: ') && line.endsWith(')'));
  const line = lines[at] ?? '';
  const open = line.lastIndexOf(' (');
  const name = line.slice(open + 2, -1);
  if (at >= 0 && isErrorCode(name)) {
    const hint = lines
      .slice(at + 1)
      .join('\n')
      .trim();
    return new WaError(name, line.slice('wa-sync: '.length, open), hint === '' ? {} : { hint });
  }
  return new WaError('child_failed', `the daemon ended with code ${code} before it answered`, {
    hint: `See ${startLog} and \`wa-sync logs\`.`,
  });
}
