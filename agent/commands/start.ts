// `wa-sync` and `wa-sync start`: the daemon in the foreground, until Ctrl+C, `wa-sync down`, or another start takes over.

import { WaError } from '../../protocol/errors.ts';
import { ownerSecrets } from '../../protocol/telegram-settings.ts';
import { configWarnings } from '../config-check.ts';
import { resolveBindings } from '../daemon/bindings.ts';
import { startDaemon } from '../daemon/daemon.ts';
import { readDaemonId } from '../daemon/daemon-id.ts';
import { forgetDown, isDown, noteDown } from '../fs/down.ts';
import { daemonEnded, fileLog, keepShort, type LogEcho } from '../log.ts';
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
  if (!config.relay) {
    throw new WaError('not_configured', 'no relay is configured', {
      hint: 'Try it without an account: `wa-sync dev`. With your own relay: set WA_RELAY_URL and WA_AGENT_TOKEN, or "relay" in config.json (docs/relay.md).',
    });
  }
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
  const client = createRelayClient(config.relay);
  try {
    const { bindings, automatic } = await resolveBindings(config, context.cwd, client);
    for (const { dir, mailbox, project } of bindings) {
      const how = automatic ? ' (the folder where it was started; config.json can bind others)' : '';
      context.out(`serving ${dir} for chat ${mailbox}, project ${project}${how}`);
    }
    const daemonId = await readDaemonId(config.dirs.config);
    const daemon = await startDaemon({
      config,
      bindings,
      client,
      daemonId,
      version,
      platform: context.platform,
      clock,
      random: Math.random,
      log,
    });
    const stop = () => void daemon.stop();
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.once(signal, stop);
    // Ctrl+C means that no daemon is wanted.
    process.once('SIGINT', () => void noteDown(state).then(stop, stop));
    // A `wa-sync down` during the start found no daemon that could hear it.
    if (options.unlessDown && (await isDown(state))) stop();
    context.out(`wa-sync ${version} is running, pid ${process.pid}; stop it with Ctrl+C or \`wa-sync down\``);
    if ((await daemon.finished) === 'superseded') {
      // Without the note the next hook would take the chat back, and so on.
      await noteDown(state);
      throw new WaError('superseded', 'another start of this daemon took over the relay connection', {
        hint: 'Only one daemon can serve a chat: stop the other one with `wa-sync down` on its machine.',
      });
    }
  } finally {
    await client.close();
  }
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
