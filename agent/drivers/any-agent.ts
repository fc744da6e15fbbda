// The tools of a coding agent that has no driver, for the gate of a session that the daemon owns: named by the kinds of the protocol,
// with the arguments that most agents use. Pure.

import type { Input, Tools } from './driver.ts';
import { driverOf } from './registry.ts';

/** Stands in place of the name of such an agent. */
const anyAgent = 'any';

const textOf = (input: Input, keys: readonly string[]) =>
  keys.map((key) => input[key]).find((value): value is string => typeof value === 'string' && value !== '');

const pathKeys = ['file_path', 'path', 'filePath', 'file'];

const anyTools: Tools = {
  acts: { execute: 'run', edit: 'edit', read: 'read', search: 'search', fetch: 'address' },
  // Nothing is known of what its tools change.
  readOnly: new Set(),
  shell: 'execute',
  question: undefined,
  subAgent: undefined,
  command: (input) => textOf(input, ['command', 'cmd']),
  withCommand: (input, command) => ({ ...input, command }),
  folder: 'cwd',
  file: (input) => textOf(input, pathKeys),
  edit: () => undefined,
  write: () => undefined,
  shown: { command: ['command', 'cmd'], edit: [], write: [] },
  addedByHost: {},
  serverOf: () => undefined,
};

/** The name under which the rules know a coding agent: its own, else the one that stands for any. */
export function knownAs(agent: string): string {
  return driverOf(agent) === undefined ? anyAgent : agent;
}

/** Undefined = neither a driver's agent nor one that stands for any. */
export function toolsByAgent(agent: string): Tools | undefined {
  return agent === anyAgent ? anyTools : driverOf(agent)?.tools;
}
