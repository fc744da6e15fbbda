// Reads a phone text: a command answered here, a control for the daemon, or an ordinary message. Pure.

import type { Control } from '../protocol/log.ts';

/** Answered without the workstation. */
export type RelayCommand = 'start' | 'help' | 'status' | 'ping' | 'letters';

const relayCommands: ReadonlySet<string> = new Set([
  'start',
  'help',
  'status',
  'ping',
  'letters',
] satisfies RelayCommand[]);

/** Ours, but acted on by the daemon. Any other `/name` is a workflow of the project and travels as text. */
const daemonCommands: ReadonlySet<string> = new Set([
  'sprint',
  'away',
  'approvals',
  'sessions',
  'new',
  'resume',
  'later',
  'full',
  'usage',
  'mute',
  'continue',
]);

/** The name in `/command@name`. */
export function addressedTo(text: string): string | undefined {
  return /^\/\w{1,32}@(\w{1,64})/.exec(text.trim())?.[1];
}

export type Reading =
  | { kind: 'relay'; command: RelayCommand; args: string }
  | { kind: 'control'; control: Control }
  /** A command for another bot of the group. */
  | { kind: 'foreign' }
  | { kind: 'message'; text: string; stopWord: boolean };

/** `ownName` = the name by which groups address this bot; null = not known, so every name is ours. */
export function readText(text: string, ownName: string | null): Reading {
  const trimmed = text.trim();
  if (/^stop[\s.!]*$/i.test(trimmed)) return { kind: 'control', control: { type: 'stop', text: trimmed } };
  // A doubled slash hands the command itself to the agent.
  if (/^\/\/\S/.test(trimmed)) return message(trimmed.slice(1));
  const match = /^\/([A-Za-z0-9_]{1,32})(?:@(\w{1,64}))?(?:\s+([\s\S]*))?$/.exec(trimmed);
  const name = match?.[1]?.toLowerCase();
  if (match === null || name === undefined) return message(text);
  if (match[2] !== undefined && ownName !== null && match[2].toLowerCase() !== ownName.toLowerCase()) {
    return { kind: 'foreign' };
  }
  const args = match[3] ?? '';
  if (name === 'stop' || name === 'abort') return { kind: 'control', control: { type: name, text: trimmed } };
  if (isRelayCommand(name)) return { kind: 'relay', command: name, args };
  if (daemonCommands.has(name)) return { kind: 'control', control: { type: 'command', name, args } };
  // In groups the menu appends the bot's name, which is no part of a workflow's.
  return message(trimmed.replace(/^(\/\w+)@\w*bot\b/i, '$1'));
}

function message(text: string): Reading {
  return { kind: 'message', text, stopWord: hasStopWord(text) };
}

function hasStopWord(text: string): boolean {
  return /(?<![\p{L}\p{N}_])stop(?![\p{L}\p{N}_])/iu.test(text);
}

function isRelayCommand(name: string): name is RelayCommand {
  return relayCommands.has(name);
}
