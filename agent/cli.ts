// The command line: names, options and help of every command, and how a failure ends the process. Each command itself is a module of
// commands/.

import { homedir } from 'node:os';
import { join } from 'node:path';
import { Argument, Command, CommanderError, Option } from 'commander';
import { WaError } from '../protocol/errors.ts';
import type { CommandContext } from './commands/context.ts';
import { completionScript, type Shell, shapesOf, shells } from './completion.ts';
import { loadConfig } from './config.ts';
import { checkFile, withLine } from './config-check.ts';
import { allDrivers } from './drivers/registry.ts';
import { createProgress } from './progress.ts';
import { helpEnd, usageError } from './usage.ts';
import { version } from './version.ts';
import { visible } from './visible.ts';

function createContext(): CommandContext {
  const world = { env: { ...process.env }, platform: process.platform, home: homedir() };
  const progress = createProgress({ stream: process.stderr, env: process.env });
  return {
    ...world,
    cwd: process.cwd(),
    distDir: import.meta.dirname.endsWith('agent') ? join(import.meta.dirname, '..', 'dist') : import.meta.dirname,
    loadConfig: () => {
      const config = loadConfig(world);
      checkFile(config);
      return config;
    },
    out: (line) => progress.above(() => process.stdout.write(`${visible(line)}\n`)),
    note: (line) => progress.above(() => process.stderr.write(`${visible(line)}\n`)),
    progress,
  };
}

const agents = allDrivers().map(({ name }) => name);

/** Each command is loaded when it is used: `wa-sync status` must not load a Markdown parser. */
function createProgram(context: CommandContext, { hasDefault }: { hasDefault: boolean }): Command {
  const program = new Command('wa-sync')
    .description('The mailbox between your phone and the coding agent in your terminal.')
    .version(version, '-v, --version')
    .helpOption('-h, --help')
    .addHelpCommand(new Command('help').argument('[command]').description('help for a command').helpGroup('Help:'))
    .addHelpText('after', helpEnd)
    .showSuggestionAfterError()
    .configureOutput({ outputError: () => {} })
    .exitOverride();

  program.commandsGroup('Every day:');
  program
    .command('start', { isDefault: hasDefault })
    .description('run the daemon in the foreground (the default command)')
    .option('-d, --detach', 'run it in the background, and wait until it answers')
    .option('-q, --quiet', 'repeat nothing of the log on stderr')
    .option('--verbose', 'repeat the whole log on stderr, not its warnings alone')
    .option('--unless-down', 'end at once after a `wa-sync down` that no start has followed; hooks start it like this')
    .addOption(new Option('--service <system>', 'started by the service').hideHelp())
    .action(async (options) => (await import('./commands/start.ts')).startCommand(options, context));

  program
    .command('status')
    .description('show on one screen what the running daemon and the relay know')
    .option('--watch', 'draw it again every two seconds, until Ctrl+C')
    .option('--json', 'one JSON object')
    .action(async (options) => (await import('./commands/status.ts')).statusCommand(options, context));

  program
    .command('doctor')
    .description('look at everything between the phone and the coding agent; exits 1 when something fails')
    .option('--fix', 'repair what is safe, and say what was done')
    .option('--json', 'one JSON object')
    .action(async (options) => {
      const { doctorCommand } = await import('./commands/doctor.ts');
      if (await doctorCommand(options, context)) process.exitCode = exitCodes.failed;
    });

  program
    .command('down')
    .description('stop the running daemon')
    .action(async () => (await import('./commands/status.ts')).downCommand(context));

  program
    .command('restart')
    .description('end the daemon and start it again, by the service or in the background')
    .action(async () => (await import('./commands/background.ts')).restartCommand(context));

  program
    .command('logs')
    .description('show the log of the daemon')
    .option('-f, --follow', 'go on with what is added, until Ctrl+C')
    .option('-n, --lines <count>', 'begin with this many lines', '50')
    .option('--json', 'the lines as they stand in the file, one JSON object each')
    .action(async (options) => (await import('./commands/logs.ts')).logsCommand(options, context));

  const steer = async (action: 'stop' | 'sprint' | 'away', args: string) =>
    (await import('./commands/steer.ts')).steerCommand(action, args, context);
  program
    .command('stop')
    .description('let the coding agent finish its action and halt (`wa-sync down` stops the daemon)')
    .action(() => steer('stop', ''));
  program
    .command('sprint')
    .description(
      'let the coding agent work through the next tasks by itself (with a goal or --for: /sprint on the phone)',
    )
    .argument('[tasks]', 'at most this many, 1 to 50; 5 without it')
    .action((tasks?: string) => steer('sprint', tasks ?? ''));
  program
    .command('away')
    .description('hold the end of each turn for the phone, or not')
    .addArgument(new Argument('[switch]', 'on or off').choices(['on', 'off']).default('on'))
    .action((value: string) => steer('away', value));

  program
    .command('send')
    .description('send a status update or a file to the phone')
    .argument('[text]', 'Markdown, or the caption of the file; - reads it from stdin')
    .option(
      '--file <path>',
      'send this file as a document (needs the running daemon); secrets are hidden in its name and caption, its bytes go as they are',
    )
    .action(async (text, { file }) => (await import('./commands/send.ts')).sendCommand(text, { file }, context));

  program
    .command('letters')
    .description('list dead letters: messages and answers that could not be delivered')
    .addArgument(new Argument('[action]', 'send a dead letter again, or forget it').choices(['retry', 'drop']))
    .argument('[id]', 'the id of the dead letter, or its start')
    .option('--json', 'one JSON object')
    .action(async (action, id, { json }) =>
      (await import('./commands/letters.ts')).deadLettersCommand({ action, id, json }, context),
    );

  program.commandsGroup('Approvals:');
  program
    .command('approvals')
    .description('show what the phone is asked before a tool runs (only the phone can change it)')
    .option('--json', 'one JSON object')
    .action(async (options) => (await import('./commands/approvals.ts')).approvalsCommand(options, context));

  program
    .command('audit')
    .description('show verdicts, STOPs, tool calls and turns of the project in this folder')
    .option('--since <duration>', 'only the last 90s, 30m, 2h or 3d')
    .option('--json', 'one JSON object a line')
    .action(async ({ since, json }) =>
      (await import('./commands/approvals.ts')).auditCommand({ since, json }, context),
    );

  const policy = program.command('policy').description('judge a tool call by the policies and the built-in rules');
  policy
    .command('test')
    .description('the verdict on a command, the rule and the policies behind it; runs nothing')
    .argument('<command>', 'the command line, or with --tool the arguments as JSON')
    .option('--tool <name>', 'the tool, as the coding agent calls it (default: its shell)')
    .addOption(new Option('--agent <name>', 'which coding agent').choices(agents).default(agents[0]))
    .addOption(new Option('--mode <mode>', 'the mode to judge in').choices(['off', 'risky', 'all']).default('risky'))
    .option('--json', 'one JSON object')
    .action(async (command, options) =>
      (await import('./commands/policy.ts')).policyTestCommand({ command, ...options }, context),
    );

  program.commandsGroup('Set up:');
  addSetup(program, context);
  program
    .command('service')
    .description('run the daemon in the background from each login on')
    .addArgument(
      new Argument('<action>', 'install also updates').choices(['install', 'uninstall', 'start', 'stop', 'status']),
    )
    .option('--json', 'one JSON object')
    .action(async (action, { json }) =>
      (await import('./commands/service.ts')).serviceCommand({ action, json }, context),
    );

  program
    .command('hooks')
    .description('install, remove or list the hooks in a coding agent')
    .addArgument(new Argument('<action>', 'what to do with the hooks').choices(['install', 'uninstall', 'list']))
    .option('--agent <name>', `which coding agent: ${agents.join(', ')}, or all of them: all`, agents[0])
    .addOption(
      new Option(
        '--scope <scope>',
        'user: all projects; project: one. Default: user for install, every place for uninstall',
      ).choices(['user', 'project']),
    )
    .option('--project <dir>', 'project for --scope project (default: the current folder)')
    .option('--json', 'one JSON object (list)')
    .action(async (action, options) => {
      const { agentsNamed, hooksCommand, installDirs } = await import('./commands/hooks.ts');
      for (const agent of agentsNamed(options.agent)) {
        const dirs = await installDirs(context, agent, { makes: action === 'install' });
        await hooksCommand({ action, ...options, agent }, { dirs, out: context.out });
      }
    });

  program
    .command('mcp')
    .description('run an MCP server on stdin and stdout, for coding agents that poll for messages')
    .action(async () => (await import('./commands/mcp.ts')).mcpCommand(context));

  program
    .command('completion')
    .description('print the script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'which shell').choices(shells))
    .action((shell: Shell) => void process.stdout.write(completionScript(shell, shapesOf(program))));

  program.commandsGroup('Try it out:');
  program
    .command('dev')
    .description('run relay, daemon and a phone in the browser, all on this machine')
    .option('--port <number>', 'port of the phone page (0 = any free one; default: that of the last start here)')
    .option('--project <dir>', 'the folder to serve (default: the current folder)')
    .addOption(
      new Option(
        '--telegram <mode>',
        'sim: phone in the browser; poll: real Telegram, getUpdates; webhook: only listen',
      )
        .choices(['sim', 'poll', 'webhook'])
        .default('sim'),
    )
    .addOption(
      new Option(
        '--agent <name>',
        `echo: a scripted agent; ${agents.join(' or ')}: install the hooks; none: files only`,
      )
        .choices(['none', 'echo', ...agents])
        .default('echo'),
    )
    .option('--take-webhook', 'poll: remove a set webhook while running, and put it back on exit')
    .action(async (options) =>
      (await import('./commands/dev.ts')).devCommand({ ...options, project: options.project ?? context.cwd }, context),
    );

  program
    .command('demo')
    .description('run a scripted round trip through every part; exits 0 when each hop worked')
    .action(async () => (await import('./commands/demo.ts')).demoCommand(context));

  program.commandsGroup('Help:');
  program
    .command('version')
    .description('print the version')
    .action(() => context.out(version));
  // One place for every command: beside a `wa-sync dev` of this folder, its daemon is meant.
  program.hook('preAction', async (_, command) => {
    const { daemonCommands, devBeside } = await import('./commands/beside-dev.ts');
    const name = (command.parent === program ? command : command.parent)?.name() ?? '';
    const dev = daemonCommands.has(name) ? await devBeside(context) : undefined;
    if (dev === undefined) return;
    Object.assign(context.env, dev.env);
    context.note(`(this is \`wa-sync dev\` of ${dev.dir})`);
  });

  return program;
}

/** Beside `createProgram`, for its length. */
function addSetup(program: Command, context: CommandContext): void {
  program
    .command('setup')
    .description('connect your phone: bot, relay, this machine; run again to go on, or in another project to add it')
    .addArgument(
      new Argument('[step]', 'only this step, and what depends on it').choices([
        'bot',
        'pair',
        'relay',
        'webhook',
        'machine',
        'hello',
      ]),
    )
    .option('--local', 'no relay elsewhere: the daemon asks Telegram itself')
    .option('--temporary', 'relay in a temporary Cloudflare account, without a login')
    .option('--cloudflare', 'relay in your Cloudflare account (CLOUDFLARE_API_TOKEN, or the login of wrangler)')
    .option('--relay <url>', 'a relay that runs already (WA_AGENT_TOKEN)')
    .option('--script <name>', 'name of the Worker (default: wa-sync)')
    .option('--group', 'pair with a group in place of the private chat')
    .option('--chat <id>', 'with --relay: which of its chats')
    .option('--topic <number>', 'the topic of the chat that this folder gets')
    .option('--claimed [url]', 'the temporary account is yours now: the relay may have another address')
    .option('--take-webhook', 'take the webhook of the bot away from another program')
    .option('--accept-cloudflare-terms', 'a person has read and accepts the terms of Cloudflare')
    .option('--replace-relay', 'give a relay of the same name this bot and chat')
    .option('--bot-token-stdin', 'read the token of the bot from the first line of stdin')
    .option('--service', 'start the daemon with this computer')
    .option('--no-service', 'do not offer that')
    .option('--no-wait', 'do not wait for taps on the phone: run it again afterwards')
    .option('-y, --yes', 'ask nothing: take flags, variables and defaults')
    .option('--json', 'print the next needed input as an object, and read answers from stdin')
    .action(async (step, options, command) => {
      const isAsked = command.getOptionValueSource('service') === 'default';
      const service = isAsked ? undefined : options.service;
      await (await import('./commands/setup.ts')).setupCommand(step, { ...options, service }, context);
    });

  const relayOptions = (command: Command) =>
    command
      .option('--script <name>', 'name of the Worker (default: that of setup)')
      .option('--account <id>', 'Cloudflare account of the Worker (default: that of setup)')
      .option('--json', 'print the next needed input as an object, and read answers from stdin');
  const relay = program.command('relay').description('the relay at Cloudflare: its version and its state');
  relayOptions(relay.command('upgrade'))
    .description(
      'bring the relay to the version of this program; secrets and messages stay, the bot token is not needed',
    )
    .action(async (options) => (await import('./commands/relay.ts')).upgradeCommand(options, context));
  relay
    .command('status')
    .description('what the relay says of itself')
    .option('--json', 'one JSON object')
    .action(async (options) => (await import('./commands/relay.ts')).relayStatusCommand(options, context));
  relayOptions(program.command('rotate'))
    .description('give relay and machine a new secret, without losing a message')
    .addArgument(
      new Argument('<secret>', 'the token of the bot, the token of this machine, or that of the webhook').choices([
        'bot',
        'agent',
        'webhook',
      ]),
    )
    .action(async (what, options) => (await import('./commands/relay.ts')).rotateCommand(what, options, context));

  program
    .command('uninstall')
    .description('take back what setup did: hooks, service, webhook; asks for the relay and for the data')
    .option('--remove-relay', 'delete the relay at Cloudflare, with every message that waits in it')
    .option('--remove-webhook', 'take the webhook away from the bot (needs its token)')
    .option('--purge', 'delete settings, journal and logs of this machine')
    .option('-y, --yes', 'ask nothing: leave what no flag names')
    .option('--json', 'print the next needed input as an object, and read answers from stdin')
    .action(async (options) => (await import('./commands/uninstall.ts')).uninstallCommand(options, context));
}

const exitCodes = { ok: 0, failed: 1, usage: 2, superseded: 3, needsInput: 4, cancelled: 130 } as const;

const usageCodes = new Set(['not_configured', 'bad_config', 'bad_arguments', 'not_bound']);

function exitCodeOf(error: unknown): number {
  if (!(error instanceof WaError)) return exitCodes.failed;
  if (error.code === 'superseded') return exitCodes.superseded;
  if (error.code === 'needs_input') return exitCodes.needsInput;
  if (error.code === 'cancelled') return exitCodes.cancelled;
  return usageCodes.has(error.code) ? exitCodes.usage : exitCodes.failed;
}

/** launchd starts again whatever does not end with 0, so what no restart mends ends with 0 there. */
function exitCodeFor(error: unknown, args: readonly string[]): number {
  const code = exitCodeOf(error);
  const isFinal = code === exitCodes.usage || code === exitCodes.superseded;
  return isFinal && args.join(' ').includes('--service launchd') ? exitCodes.ok : code;
}

/** The message, and the command that repairs the problem. Only a bug shows a stack. */
function describeError(error: unknown): string {
  if (!(error instanceof WaError)) {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return `wa-sync: internal error, please report it\n${stack}`;
  }
  return `wa-sync: ${error.message} (${error.code})${error.hint ? `\n  ${error.hint}` : ''}`;
}

async function main(): Promise<number> {
  const given = process.argv.slice(2);
  const args = given[0] === '-V' ? ['--version'] : given;
  // With a default command commander takes an unknown name for its argument.
  const named = args.find((arg) => arg !== 'help');
  const hasDefault = named === undefined || named.startsWith('-');
  const program = createProgram(createContext(), { hasDefault });
  const command = program.commands.find((each) => each.name() === named);
  // A reader may stop early, as in `wa-sync status | grep -q connected`: the command succeeds, and a daemon goes on.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  try {
    // The unknown name alone: with its arguments, commander shows the whole help instead of the mistake.
    const isUnknown = !hasDefault && !command;
    await program.parseAsync(isUnknown ? [named] : args, { from: 'user' });
    return Number(process.exitCode ?? exitCodes.ok);
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.ok;
    const problem = error instanceof CommanderError ? usageError(error, command?.name()) : await withLine(error);
    process.stderr.write(`${visible(describeError(problem))}\n`);
    return exitCodeFor(problem, args);
  }
}

process.exitCode = await main();
