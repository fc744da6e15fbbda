// The commands for the coding agents' sessions: names, options and help.

import { type Command, Option } from 'commander';
import type { CommandContext } from '../commands/context.ts';

const which = 'latest, the number in the list, the start of the id, or words of the title';
const json = () => new Option('--json', 'one JSON object a line');

export function addSessionsGroup(program: Command, context: CommandContext): void {
  const sessions = program.command('sessions').description("the coding agents' sessions of this project, newest first");
  const add = (name: string, description: string, ...more: readonly Option[]) => {
    const command = sessions.command(name, { isDefault: name === 'list' }).description(description);
    command.option('--agent <name>', 'only those of this coding agent').option('--all', 'of all projects');
    for (const option of more) command.addOption(option);
    return command;
  };

  add('list', 'list them', json()).action(async (options) =>
    (await import('../commands/sessions.ts')).sessionListCommand(options, context),
  );
  add('show', 'print a conversation', json())
    .argument('[session...]', which)
    .action(async (words, options) =>
      (await import('../commands/sessions.ts')).sessionShowCommand(words.join(' '), options, context),
    );
  add('search', 'find the messages with all these words', json())
    .argument('<words...>', 'in any order')
    .action(async (words, options) =>
      (await import('../commands/sessions.ts')).sessionSearchCommand(words, options, context),
    );
  add('resume', 'open a session in its coding agent, here', new Option('--print', 'print the command instead'))
    .argument('[session...]', which)
    .action(async (words, options) =>
      (await import('../commands/session-changes.ts')).sessionResumeCommand(words.join(' '), options, context),
    );
  add('delete', 'delete a session for good', new Option('-y, --yes', 'do not ask'))
    .argument('<session...>', which)
    .action(async (words, options) =>
      (await import('../commands/session-changes.ts')).sessionDeleteCommand(words.join(' '), options, context),
    );
}
