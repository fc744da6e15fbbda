// The commands about what a tool may do: names, options and help.

import { type Command, Option } from 'commander';
import type { CommandContext } from '../commands/context.ts';
import { allDrivers } from '../drivers/registry.ts';

export function addApprovalsGroup(program: Command, context: CommandContext): void {
  const agents = allDrivers().map(({ name }) => name);
  program.commandsGroup('Approvals:');
  program
    .command('approvals')
    .description('show what the phone is asked before a tool runs (only the phone can change it)')
    .option('--json', 'one JSON object')
    .action(async (options) => (await import('../commands/approvals.ts')).approvalsCommand(options, context));

  program
    .command('audit')
    .description('show verdicts, STOPs, tool calls and turns of the project in this folder')
    .option('--since <duration>', 'only the last 90s, 30m, 2h or 3d')
    .option('--json', 'one JSON object a line')
    .action(async ({ since, json }) =>
      (await import('../commands/approvals.ts')).auditCommand({ since, json }, context),
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
      (await import('../commands/policy.ts')).policyTestCommand({ command, ...options }, context),
    );
}
