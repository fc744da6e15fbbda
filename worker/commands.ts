// Reads a phone text: a command answered here, a control for the daemon, or an ordinary message. Pure.

import { findCommand, type RelayCommand, readSlash } from '../protocol/commands.ts';
import type { Control } from '../protocol/log.ts';

/** The name in `/command@name`. */
export function addressedTo(text: string): string | undefined {
  return /^\/\w{1,32}@(\w{1,64})/.exec(text.trim())?.[1];
}

export type Reading =
  | { kind: 'relay'; command: RelayCommand; args: string }
  | { kind: 'control'; control: Control }
  /** A command for another bot of the group. */
  | { kind: 'foreign' }
  /** `workflow` = it names a workflow, or no command was meant to be written so. */
  | { kind: 'message'; text: string; stopWord: boolean; workflow?: true };

/** `botUsername` = the name by which groups address this bot; null = not known, so every username counts as this bot's. */
export function readText(text: string, botUsername: string | null): Reading {
  const trimmed = text.trim();
  if (/^stop[\s.!]*$/i.test(trimmed)) return { kind: 'control', control: { type: 'stop', text: trimmed } };
  // A doubled slash hands the command itself to the agent.
  if (/^\/\/\S/.test(trimmed)) return message(trimmed.slice(1));
  const match = /^\/([A-Za-z0-9_]{1,32})(?:@(\w{1,64}))?(?:\s+([\s\S]*))?$/.exec(trimmed);
  const word = match?.[1]?.toLowerCase();
  if (match === null || word === undefined) return readSlash(trimmed) ? workflow(text) : message(text);
  if (match[2] !== undefined && botUsername !== null && match[2].toLowerCase() !== botUsername.toLowerCase()) {
    return { kind: 'foreign' };
  }
  // In groups the menu appends the bot's name, which does not belong to the name of a workflow.
  const found = findCommand(word);
  if (found === undefined) return workflow(trimmed.replace(/^(\/\w+)@\w*bot\b/i, '$1'));
  const { command, choice } = found;
  const args = [choice, match[3] ?? ''].filter((each) => each !== '').join(' ');
  if (command.by === 'halt') return { kind: 'control', control: { type: command.name, text: trimmed } };
  const isOfRelay = command.by === 'relay' && !(command.argsToDaemon && args !== '');
  if (isOfRelay) return { kind: 'relay', command: command.name, args };
  return { kind: 'control', control: { type: 'command', name: command.name, args } };
}

/** The text for the agent, as Markdown; `read` = the plain text without a doubled slash or the bot's name. */
export function markedText({ text, markdown }: { text: string; markdown?: string }, read: string): string {
  if (markdown === undefined || read === text) return markdown ?? read;
  const again = readText(markdown, null);
  return again.kind === 'message' ? again.text : markdown;
}

function message(text: string): Reading & { kind: 'message' } {
  return { kind: 'message', text, stopWord: hasStopWord(text) };
}

function workflow(text: string): Reading {
  return { ...message(text), workflow: true };
}

function hasStopWord(text: string): boolean {
  return /(?<![\p{L}\p{N}_])stop(?![\p{L}\p{N}_])/iu.test(text);
}
