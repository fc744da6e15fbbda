// What a shell remembers from one command to the next: where it is, and the values of variables. Bounded. Pure.

import { absolute, maxPathChars, normal } from './paths.ts';
import { isUnknown, type Known, marked } from './shell-expand.ts';
import { marks } from './shell-marks.ts';

export interface Shell {
  cwd: string;
  home: string;
  /** Values that are known of the machine, by the name of the variable. */
  variables?: Readonly<Record<string, readonly string[]>>;
}

const maxVariables = 64;
const maxValues = 16;
const maxFolders = 16;
/** A longer way down is not followed. */
const maxFolderChars = 512;

export interface State {
  at: string | undefined;
  previous: string | undefined;
  stack: (string | undefined)[];
  variables: Map<string, readonly string[]>;
  /** With it a `cd` may lead elsewhere. */
  hasCdPath: boolean;
}

export function copyOf(state: State): State {
  return { ...state, stack: [...state.stack], variables: new Map(state.variables) };
}

export function isAssignment(word: string | undefined): boolean {
  return word !== undefined && /^[A-Za-z_]\w{0,255}(\[[^\]]{0,64}\])?\+?=/.test(word);
}

export function setVariables(words: readonly string[], known: Known, state: State): void {
  for (const word of words) {
    const [, name, isMore, value = ''] = /^([A-Za-z_]\w{0,255})(\+)?=(.*)$/s.exec(word) ?? [];
    if (name === undefined) continue;
    if (name === 'CDPATH') state.hasCdPath = true;
    const before = isMore ? (state.variables.get(name) ?? ['']) : [''];
    const values = marked(value.startsWith('~') ? value.replace(/^~(?=\/|$)/, known.home) : value, known);
    setVariable(
      state,
      name,
      before.flatMap((each) => values.map((more) => each + more)),
    );
  }
}

function setVariable(state: State, name: string, values: readonly string[]): void {
  if (state.variables.size >= maxVariables + 32 && !state.variables.has(name)) return;
  const isShort = values.length <= maxValues && values.every((value) => value.length <= maxPathChars);
  state.variables.set(name, isShort ? values : [marks.unknown]);
}

/** `for x in a b` */
export function setLoop(words: readonly string[], known: Known, state: State): void {
  const at = words.indexOf('in');
  const name = words[at - 1];
  if (at < 1 || name === undefined) return;
  setVariable(
    state,
    name,
    words.slice(at + 1, at + 2 + maxValues).flatMap((word) => marked(word, known)),
  );
}

/** Follows `cd`, `pushd` and `popd`. */
export function moveFolder(command: readonly string[], lost: boolean, state: State, shell: Shell): void {
  const [program = '', ...rest] = command;
  if (program === 'popd') {
    state.previous = state.at;
    state.at = state.stack.length > 0 ? state.stack.pop() : shell.cwd;
    return;
  }
  if (program !== 'cd' && program !== 'pushd' && program !== 'chdir') return;
  const options = rest.findIndex((word) => word === '--' || !/^-[A-Za-z@]+$/.test(word));
  const words = options < 0 ? [] : rest.slice(rest[options] === '--' ? options + 1 : options);
  const [target = shell.home] = words;
  if (program === 'pushd' && state.stack.length < maxFolders) state.stack.push(state.at);
  const isElsewhere = state.hasCdPath && !/^(\/|\.\.?(\/|$))/.test(target);
  const isOpen = isUnknown(target) || /[*?[]/.test(target) || isElsewhere || target.length > maxPathChars;
  const from = target === '-' ? state.previous : target;
  const isRelative = from !== undefined && !absolutePath.test(from);
  const before = state.at;
  if (isOpen || from === undefined || (lost && isRelative) || /^\+\d/.test(from)) state.at = undefined;
  else {
    const moved = normal(absolute(from, before ?? shell.cwd));
    state.at = moved.length < maxFolderChars ? moved : undefined;
  }
  state.previous = before;
}

const absolutePath = /^(\/|[a-z]:[\\/])/i;
