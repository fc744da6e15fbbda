// The commands of every day: names, options and help.

import { Argument, type Command, Option } from 'commander';
import type { CommandContext } from '../commands/context.ts';
import { exitCodes } from './exit.ts';

export function addEverydayGroup(
  program: Command,
  context: CommandContext,
  { hasDefault }: { hasDefault: boolean },
): void {
  program.commandsGroup('Every day:');
  program
    .command('start', { isDefault: hasDefault })
    .description('run the daemon in the foreground (the default command)')
    .option('-d, --detach', 'run it in the background, and wait until it answers')
    .option('-q, --quiet', 'repeat nothing of the log on stderr')
    .option('--verbose', 'repeat the whole log on stderr, not its warnings alone')
    .option('--unless-down', 'end at once after a `wa-sync down` that no start has followed; hooks start it like this')
    .addOption(new Option('--service <system>', 'started by the service').hideHelp())
    .action(async (options) => (await import('../commands/start.ts')).startCommand(options, context));

  program
    .command('status')
    .description('show on one screen what the running daemon and the relay know')
    .option('--watch', 'draw it again every two seconds, until Ctrl+C')
    .option('--json', 'one JSON object')
    .action(async (options) => (await import('../commands/status.ts')).statusCommand(options, context));

  program
    .command('doctor')
    .description('look at everything between the phone and the coding agent; exits 1 when something fails')
    .option('--fix', 'repair what is safe, and say what was done')
    .option('--json', 'one JSON object')
    .action(async (options) => {
      const { doctorCommand } = await import('../commands/doctor.ts');
      if (await doctorCommand(options, context)) process.exitCode = exitCodes.failed;
    });

  program
    .command('down')
    .description('stop the running daemon')
    .action(async () => (await import('../commands/status.ts')).downCommand(context));

  program
    .command('restart')
    .description('end the daemon and start it again, by the service or in the background')
    .action(async () => (await import('../commands/background.ts')).restartCommand(context));

  program
    .command('logs')
    .description('show the log of the daemon')
    .option('-f, --follow', 'go on with what is added, until Ctrl+C')
    .option('-n, --lines <count>', 'begin with this many lines', '50')
    .option('--json', 'the lines as they stand in the file, one JSON object each')
    .action(async (options) => (await import('../commands/logs.ts')).logsCommand(options, context));

  const steer = async (action: 'stop' | 'sprint' | 'away', args: string) =>
    (await import('../commands/steer.ts')).steerCommand(action, args, context);
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
    .command('run')
    .description('let the daemon run a session of a coding agent, which your phone steers')
    .argument('[text]', 'a first text, - reads it from stdin; the agent is told that it came from this machine')
    .option('--agent <name>', 'which coding agent (default: the one used last)')
    .option('--session <id>', 'open an earlier session: its id, latest, or words of its title')
    .option('--new', 'a new session (the default)')
    .option('--mode <id>', "the agent's mode; /mode on the phone lists them")
    .option('--model <id>', 'the model; /model on the phone lists them')
    .action(async (text, options) => (await import('../commands/owned.ts')).runCommand(text, options, context));
  program
    .command('attach')
    .description('open the session that the daemon runs in this terminal; the daemon lets go of it')
    .option('--print', 'only print the command')
    .action(async (options) => (await import('../commands/owned.ts')).attachCommand(options, context));

  program
    .command('send')
    .description('send a status update or a file to the phone')
    .argument('[text]', 'Markdown, or the caption of the file; - reads it from stdin')
    .option(
      '--file <path>',
      'send this file as a document (needs the running daemon); secrets are hidden in its name and caption, its bytes go as they are',
    )
    .action(async (text, { file }) => (await import('../commands/send.ts')).sendCommand(text, { file }, context));

  program
    .command('letters')
    .description('list dead letters: messages and answers that could not be delivered')
    .addArgument(new Argument('[action]', 'send a dead letter again, or forget it').choices(['retry', 'drop']))
    .argument('[id]', 'the id of the dead letter, or its start')
    .option('--json', 'one JSON object')
    .action(async (action, id, { json }) =>
      (await import('../commands/letters.ts')).deadLettersCommand({ action, id, json }, context),
    );
}
