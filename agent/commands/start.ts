// `wa-sync` and `wa-sync start`: the daemon in the foreground, until Ctrl+C, `wa-sync down`, or another start takes over.

import { WaError } from '../../protocol/errors.ts';
import { ownerSecrets } from '../../protocol/telegram-settings.ts';
import type { Config } from '../config.ts';
import { configWarnings } from '../config-check.ts';
import { resolveBindings } from '../daemon/bindings.ts';
import { startDaemon } from '../daemon/daemon.ts';
import { readDaemonId } from '../daemon/daemon-id.ts';
import type { LocalRelay } from '../dev/local-relay.ts';
import { forgetDown, isDown, noteDown } from '../fs/down.ts';
import { daemonEnded, fileLog, keepShort, type Log, type LogEcho } from '../log.ts';
import { collectWhenQuiet, optimise } from '../memory.ts';
import { directories, stateFiles } from '../paths.ts';
import { createRelayClient } from '../relay/client.ts';
import { version } from '../version.ts';
import { startDetached, takeOver } from './background.ts';
import type { CommandContext } from './context.ts';
import { installedTroubles } from './hooks.ts';

export interface StartOptions {
  quiet?: boolean;
  /** The whole log on stderr, not its warnings alone. */
  verbose?: boolean;
  unlessDown?: boolean;
  detach?: boolean;
  /** Started by the service: takes the place of a daemon that somebody else started. */
  service?: string;
}

/** Errors: `not_configured`, `superseded`, those of `resolveBindings`, `startDaemon` and `startDetached`. */
export async function startCommand(options: StartOptions, context: CommandContext): Promise<void> {
  if (!options.service) return run(options, context);
  const { log, startLog } = stateFiles(directories(context).state);
  keepShort(startLog);
  try {
    await run(options, context);
  } catch (cause) {
    // Nobody sees what a service prints.
    const { code, message } =
      cause instanceof WaError ? cause : new WaError('internal', 'see the journal of the service');
    fileLog(log, Date.now)('error', daemonEnded, { code, message });
    throw cause;
  }
}

async function run(options: StartOptions, context: CommandContext): Promise<void> {
  const config = context.loadConfig();
  const { state } = config.dirs;
  if (!config.relay && !config.isLocal) throw notConfigured();
  if (options.detach) return startDetached(context);
  const warnings = [
    ...(await configWarnings(config, context.platform)),
    ...(await installedTroubles(context)).map((trouble) => `hooks ${trouble}`),
    ...secretsInReach(context.env, process.stdin.isTTY === true),
  ];
  for (const warning of warnings) context.note(`wa-sync: ${warning}`);
  if (!options.unlessDown) await forgetDown(state);
  else if (await isDown(state)) return;
  if (options.service) await takeOver(config.dirs);
  const clock = Date.now;
  const echo: LogEcho = { line: context.note, least: options.verbose ? 'info' : 'warn' };
  const log = fileLog(stateFiles(config.dirs.state).log, clock, options.quiet ? undefined : echo);
  const local = config.isLocal ? await startLocal(config, context, log) : undefined;
  const relay = local ? ({ url: local.url, token: local.token, from: 'local' } as const) : config.relay;
  if (!relay) throw notConfigured();
  const client = createRelayClient(relay);
  try {
    const { bindings, automatic } = await resolveBindings(config, context.cwd, client);
    for (const { dir, mailbox, project } of bindings) {
      const how = automatic ? ' (the folder where it was started; config.json can bind others)' : '';
      context.out(`serving ${dir} for chat ${mailbox}, project ${project}${how}`);
    }
    const daemonId = await readDaemonId(config.dirs.config);
    const daemon = await startDaemon({
      config: { ...config, relay },
      secrets: local?.secrets ?? [],
      readRelay: local ? undefined : () => context.loadConfig().relay,
      bindings,
      client,
      daemonId,
      version,
      platform: context.platform,
      clock,
      random: Math.random,
      log,
    });
    optimise();
    const endCollecting = collectWhenQuiet();
    const stop = () => void daemon.stop();
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.once(signal, stop);
    // Ctrl+C means that no daemon is wanted.
    process.once('SIGINT', () => void noteDown(state).then(stop, stop));
    // A `wa-sync down` during the start found no daemon that could hear it.
    if (options.unlessDown && (await isDown(state))) stop();
    context.out(`wa-sync ${version} is running, pid ${process.pid}; stop it with Ctrl+C or \`wa-sync down\``);
    void local?.failed.then(() => daemon.stop());
    const why = await daemon.finished;
    endCollecting();
    if (local?.failure()) throw local.failure();
    if (why === 'superseded') {
      // Without the note the next hook would take the chat back, and so on.
      await noteDown(state);
      throw new WaError('superseded', 'another start of this daemon took over the relay connection', {
        hint: 'Only one daemon can serve a chat: stop the other one with `wa-sync down` on its machine.',
      });
    }
  } finally {
    await client.close();
    await local?.stop();
  }
}

function notConfigured(): WaError {
  return new WaError('not_configured', 'no relay is configured', {
    hint: '`wa-sync setup` connects your phone; `wa-sync dev` tries it in the browser, without a bot or an account.',
  });
}

/** Loaded only here: a daemon with a relay elsewhere has no use for it. Errors: `not_configured`, those of `startLocalRelay`. */
async function startLocal(config: Config, { distDir, note }: CommandContext, log: Log): Promise<LocalRelay> {
  const { readBotFile } = await import('../dev/local-bot.ts');
  const bot = await readBotFile(config.dirs.config);
  if (!bot) {
    throw new WaError(
      'not_configured',
      `${config.file} names a relay on this machine, but bot.json beside it is missing`,
      {
        hint: 'Run `wa-sync setup bot --local`.',
      },
    );
  }
  const { startLocalRelay } = await import('../dev/local-relay.ts');
  return startLocalRelay({ bot, dirs: config.dirs, distDir, log, say: note });
}

/** What a coding agent that is started from the same shell could read, a line each. */
export function secretsInReach(env: CommandContext['env'], isTerminal: boolean): string[] {
  const reach = 'a coding agent that is started from the same shell can read';
  const given = ownerSecrets.filter((name) => env[name]);
  const warnings: string[] = [];
  if (given.length > 0) {
    warnings.push(
      `${given.join(' and ')} in the environment: ${reach} it and act as you. The daemon does not need it: unset ${given.join(' ')}`,
    );
  }
  // A service that has its token from a file of the system is started from no shell.
  if (env.WA_AGENT_TOKEN && isTerminal) {
    warnings.push(
      `WA_AGENT_TOKEN in the environment: ${reach} it and write into your chat. Put "relay" into config.json (docs/relay.md), then: unset WA_RELAY_URL WA_AGENT_TOKEN`,
    );
  }
  return warnings;
}
