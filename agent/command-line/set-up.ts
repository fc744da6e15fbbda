// The commands that set up this machine, its relay and the coding agents, and take all of it back: names, options and help.

import { Argument, type Command, Option } from 'commander';
import type { CommandContext } from '../commands/context.ts';
import { allDrivers } from '../drivers/registry.ts';
import { completionScript, type Shell, shapesOf, shells } from './completion.ts';

export function addSetupGroup(program: Command, context: CommandContext): void {
  const agents = allDrivers().map(({ name }) => name);
  program.commandsGroup('Set up:');
  addSetup(program, context);
  addRelay(program, context);
  addUninstall(program, context);
  program
    .command('service')
    .description('run the daemon in the background from each login on')
    .addArgument(
      new Argument('<action>', 'install also updates').choices(['install', 'uninstall', 'start', 'stop', 'status']),
    )
    .option('--json', 'one JSON object')
    .action(async (action, { json }) =>
      (await import('../commands/service.ts')).serviceCommand({ action, json }, context),
    );

  program
    .command('hooks')
    .description('install, remove or list the hooks in a coding agent')
    .addArgument(new Argument('<action>', 'what to do with the hooks').choices(['install', 'uninstall', 'list']))
    .option(
      '--agent <name>',
      `which coding agent: ${agents.join(', ')} or all. Default: ${agents[0]} for install, else all`,
    )
    .addOption(
      new Option(
        '--scope <scope>',
        'user: all projects; project: one. Default: user for install, every place for uninstall',
      ).choices(['user', 'project']),
    )
    .option('--project <dir>', 'project for --scope project (default: the current folder)')
    .option('--json', 'one JSON array')
    .action(async (action, options) =>
      (await import('../commands/hooks.ts')).hooksCommands({ action, ...options }, context),
    );

  program
    .command('mcp')
    .description('run an MCP server on stdin and stdout, for coding agents that poll for messages')
    .action(async () => (await import('../commands/mcp.ts')).mcpCommand(context));

  program
    .command('completion')
    .description('print the script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'which shell').choices(shells))
    .action((shell: Shell) => void process.stdout.write(completionScript(shell, shapesOf(program))));
}

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
      await (await import('../commands/setup.ts')).setupCommand(step, { ...options, service }, context);
    });
}

function addRelay(program: Command, context: CommandContext): void {
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
    .action(async (options) => (await import('../commands/relay.ts')).upgradeCommand(options, context));
  relay
    .command('status')
    .description('what the relay says of itself')
    .option('--json', 'one JSON object')
    .action(async (options) => (await import('../commands/relay.ts')).relayStatusCommand(options, context));
  relayOptions(program.command('rotate'))
    .description('give relay and machine a new secret, without losing a message')
    .addArgument(
      new Argument('<secret>', 'the token of the bot, the token of this machine, or that of the webhook').choices([
        'bot',
        'agent',
        'webhook',
      ]),
    )
    .action(async (what, options) => (await import('../commands/relay.ts')).rotateCommand(what, options, context));
}

function addUninstall(program: Command, context: CommandContext): void {
  program
    .command('uninstall')
    .description('take back what setup did: hooks, service, webhook; asks for the relay and for the data')
    .option('--remove-relay', 'delete the relay at Cloudflare, with every message that waits in it')
    .option('--remove-webhook', 'take the webhook away from the bot (needs its token)')
    .option('--purge', 'delete settings, journal and logs of this machine')
    .option('-y, --yes', 'ask nothing: leave what no flag names')
    .option('--json', 'print the next needed input as an object, and read answers from stdin')
    .action(async (options) => (await import('../commands/uninstall.ts')).uninstallCommand(options, context));
}
