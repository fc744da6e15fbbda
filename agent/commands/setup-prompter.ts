// Chooses how setup and uninstall ask: a person at a terminal, flags, or a program that reads JSON.

import { flagPrompter, jsonPrompter } from '../setup/prompt-plain.ts';
import type { Answers, Prompter } from '../setup/prompter.ts';
import type { CommandContext } from './context.ts';

export interface PrompterFlags {
  yes?: boolean | undefined;
  json?: boolean | undefined;
  /** Stdin holds something else. */
  stdinTaken?: boolean | undefined;
}

export async function prompterFor(
  { yes, json, stdinTaken }: PrompterFlags,
  answers: Answers,
  { out }: Pick<CommandContext, 'out'>,
): Promise<Prompter> {
  const plain = { answers, takesFallback: yes === true, out };
  if (json) {
    const isPiped = process.stdin.isTTY !== true && stdinTaken !== true;
    return jsonPrompter({ ...plain, input: isPiped ? process.stdin : undefined });
  }
  const isPerson = process.stdin.isTTY === true && process.stdout.isTTY === true && yes !== true;
  if (!isPerson) return flagPrompter(plain);
  const { personPrompter } = await import('../setup/prompt-person.ts');
  out('Ctrl+C stops at any point; what is done is kept.');
  return personPrompter({ answers });
}

/** Without it a reader of stdin keeps the process. */
export function letStdinGo(): void {
  process.stdin.pause();
  process.stdin.unref?.();
}
