// The entry point of the command line: runs one command, and ends with its exit code.

import { homedir } from 'node:os';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import { describeError, exitCodeFor, exitCodes } from './command-line/exit.ts';
import { createProgram } from './command-line/program.ts';
import { usageError } from './command-line/usage.ts';
import type { CommandContext } from './commands/context.ts';
import { loadConfig } from './config.ts';
import { checkFile, withLine } from './config-check.ts';
import { startPlainly } from './memory.ts';
import { createProgress } from './progress.ts';
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

async function main(): Promise<number> {
  const given = process.argv.slice(2);
  const args = given[0] === '-V' ? ['--version'] : given;
  // With a default command commander takes an unknown name for its argument.
  const named = args.find((arg) => arg !== 'help');
  const hasDefault = named === undefined || named.startsWith('-');
  if (hasDefault || named === 'start') startPlainly();
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
