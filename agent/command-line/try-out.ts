// The commands that try everything on one machine: names, options and help.

import { type Command, Option } from 'commander';
import type { CommandContext } from '../commands/context.ts';
import { allDrivers } from '../drivers/registry.ts';

export function addTryOutGroup(program: Command, context: CommandContext): void {
  const agents = allDrivers().map(({ name }) => name);
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
      (await import('../commands/dev.ts')).devCommand({ ...options, project: options.project ?? context.cwd }, context),
    );

  program
    .command('demo')
    .description('run a scripted round trip through every part; exits 0 when each hop worked')
    .action(async () => (await import('../commands/demo.ts')).demoCommand(context));
}
