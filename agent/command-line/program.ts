// Names, options and help of every command, by groups, and what happens before each. Each command itself is a module of commands/.

import { Command } from 'commander';
import type { CommandContext } from '../commands/context.ts';
import { version } from '../version.ts';
import { addApprovalsGroup } from './approvals.ts';
import { addEverydayGroup } from './everyday.ts';
import { addSessionsGroup } from './sessions.ts';
import { addSetupGroup } from './set-up.ts';
import { addTryOutGroup } from './try-out.ts';
import { helpEnd } from './usage.ts';

/** Each command is loaded when it is used: `wa-sync status` must not load a Markdown parser. */
export function createProgram(context: CommandContext, { hasDefault }: { hasDefault: boolean }): Command {
  const program = new Command('wa-sync')
    .description('The mailbox between your phone and the coding agent in your terminal.')
    .version(version, '-v, --version')
    .helpOption('-h, --help')
    .addHelpCommand(new Command('help').argument('[command]').description('help for a command').helpGroup('Help:'))
    .addHelpText('after', helpEnd)
    .showSuggestionAfterError()
    .configureOutput({ outputError: () => {} })
    .exitOverride();

  addEverydayGroup(program, context, { hasDefault });
  addSessionsGroup(program, context);
  addApprovalsGroup(program, context);
  addSetupGroup(program, context);
  addTryOutGroup(program, context);
  program.commandsGroup('Help:');
  program
    .command('version')
    .description('print the version')
    .action(() => context.out(version));
  // One place for every command: beside a `wa-sync dev` of this folder, its daemon is meant.
  program.hook('preAction', async (_, command) => {
    const { daemonCommands, devBeside } = await import('../commands/beside-dev.ts');
    const name = (command.parent === program ? command : command.parent)?.name() ?? '';
    const dev = daemonCommands.has(name) ? await devBeside(context) : undefined;
    if (dev === undefined) return;
    Object.assign(context.env, dev.env);
    const yet = dev.hasDaemon ? '' : '; its daemon does not run yet: try again in a moment';
    context.note(`(this is \`wa-sync dev\` of ${dev.dir}${yet})`);
  });

  return program;
}
