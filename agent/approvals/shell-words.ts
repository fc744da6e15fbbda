// Reads a shell command line far enough to see what it runs and where, also behind `sudo`, in `sh -c '…'` and in `$(…)`. Bounded:
// what is more than the limits is not read, and said. A guard against mistakes, not against somebody who hides: what a program
// computes is not seen. Pure.

import { absolute, normal } from './paths.ts';
import { expand, isUnknown, type Known, marked } from './shell-expand.ts';
import {
  commandsRunBy,
  printed,
  programOf,
  readsStdin,
  scriptsOf,
  stringsIn,
  takesStdinCode,
} from './shell-programs.ts';
import { marks, parseShell, type RawCommand, type Syntax } from './shell-syntax.ts';

export interface SimpleCommand {
  /** Unquoted; the first is the program's name without its folder. What only the shell knows is `marks.unknown`. */
  words: string[];
  /** Files that `>` and its kin write. */
  writes: string[];
  /** Files that `<` reads: no arguments of the program. */
  reads: string[];
  /** What its here-documents and here-strings hold. */
  texts: string[];
  /** `X=1` before it. */
  assigned: string[];
  /** Where it may run. */
  folders: readonly string[];
  /** It may run anywhere: a `cd` leads to what nobody knows. */
  lost: boolean;
  /** Whose output it reads. */
  from: SimpleCommand | undefined;
  /** A substitution of it fetches something. */
  fetches: boolean;
  /** A word of another command that may be no command at all. */
  isGuess: boolean;
  /** Stands in the words of another. */
  isInner: boolean;
  /** As written; nothing where it was put together. */
  source: string;
}

export interface Shell {
  cwd: string;
  home: string;
  /** Values that are known of the machine, by the name of the variable. */
  variables?: Readonly<Record<string, readonly string[]>>;
}

export interface Reading {
  commands: SimpleCommand[];
  /** The rest was not read: nobody could. */
  tooMuch: boolean;
}

/** Longer than anybody reads. */
export const maxCommandChars = 65_536;
const maxCommands = 2_000;
const maxWords = 20_000;
const maxNested = 6;
const maxVariables = 64;
const maxValues = 16;
const maxFolders = 16;
/** A longer way down is not followed. */
const maxFolderChars = 512;
/** No system knows a longer path. */
const maxPathChars = 4_096;

interface State {
  at: string | undefined;
  previous: string | undefined;
  stack: (string | undefined)[];
  variables: Map<string, readonly string[]>;
  /** With it a `cd` may lead elsewhere. */
  hasCdPath: boolean;
}

interface Run {
  shell: Shell;
  reading: Reading;
  words: number;
  syntax: Syntax;
  state: State;
  /** The command of each raw one. */
  made: Map<RawCommand, SimpleCommand>;
  depth: number;
  isGuess: boolean;
}

export function readShell(line: string, shell: Shell): Reading {
  const reading: Reading = { commands: [], tooMuch: line.length > maxCommandChars };
  const variables = new Map(Object.entries(shell.variables ?? {}));
  const state = { at: shell.cwd, previous: variables.get('OLDPWD')?.[0], stack: [], variables, hasCdPath: false };
  const count = { words: 0 };
  readScript(line.slice(0, maxCommandChars), { shell, reading, state, depth: 0, isGuess: false }, count);
  return reading;
}

type Where = Pick<Run, 'shell' | 'reading' | 'state' | 'depth' | 'isGuess'>;

function readScript(text: string, where: Where, count: { words: number }): void {
  const { reading, depth } = where;
  if (depth > maxNested) reading.tooMuch = true;
  if (reading.tooMuch && depth > 0) return;
  const syntax = parseShell(text);
  reading.tooMuch ||= syntax.tooMuch;
  const run = { ...where, syntax, made: new Map<RawCommand, SimpleCommand>(), state: copyOf(where.state) };
  const saved: State[] = [];
  for (const item of syntax.items) {
    if (item === 'open') saved.push(copyOf(run.state));
    else if (item === 'close') run.state = saved.pop() ?? run.state;
    else if (!readItem(item, run, count)) return;
  }
  // A script that runs in this very shell leaves its traces here.
  Object.assign(where.state, run.state);
}

function copyOf(state: State): State {
  return { ...state, stack: [...state.stack], variables: new Map(state.variables) };
}

type ScriptRun = Where & Pick<Run, 'syntax' | 'made'>;

const keywords = new Set([
  'then',
  'do',
  'else',
  'elif',
  'if',
  'while',
  'until',
  '!',
  '{',
  '}',
  'coproc',
  'time',
  'fi',
  'done',
]);
const declares = /^(export|local|declare|typeset|readonly|alias)$/;

/** False = the limits are reached. */
function readItem(raw: RawCommand, run: ScriptRun, count: { words: number }): boolean {
  const { reading, state } = run;
  const known = knownNow(run);
  // What is too much is judged by its beginning.
  const room = Math.max(0, maxWords - count.words);
  const words = raw.words.slice(0, room).flatMap((word) => expand(word, known));
  count.words += words.length + 1;
  const isFull = count.words > maxWords || reading.commands.length > maxCommands;
  reading.tooMuch ||= isFull;
  let first = 0;
  const isSkipped = (word: string | undefined) => word !== undefined && keywords.has(word);
  while (isSkipped(words[first])) first += 1;
  if (words[first] === 'function') first += 2;
  while (isSkipped(words[first])) first += 1;
  const assigned: string[] = [];
  while (isAssignment(words[first])) {
    assigned.push(words[first] as string);
    first += 1;
  }
  const [name = '', ...rest] = words.slice(first);
  // `X=1 npm test` sets it for that program alone, `X=1` for what follows.
  if (name === '' || declares.test(name)) setVariables(raw.words, known, state);
  if (name === 'for' || name === 'select') setLoop(raw.words, known, state);
  const command: SimpleCommand = {
    words: name === '' ? [] : [programOf(name), ...rest],
    writes: raw.writes.flatMap((word) => expand(word, known)),
    reads: raw.reads.flatMap((word) => expand(word, known)),
    texts: raw.texts.flatMap((word) => expand(word, known)),
    assigned,
    folders: known.folders,
    lost: state.at === undefined,
    from: raw.from && run.made.get(raw.from),
    fetches: [...raw.words, ...raw.reads, ...raw.texts].some((word) => fetches(word, run.syntax)),
    isGuess: run.isGuess,
    isInner: false,
    source: raw.source,
  };
  run.made.set(raw, command);
  if (!isFull) add(command, run, count);
  else reading.commands.push(command);
  moveFolder(command, run);
  return !isFull;
}

/** The command, those that it runs, and the scripts in them. */
function add(command: SimpleCommand, run: ScriptRun, count: { words: number }): void {
  const { reading, state } = run;
  const none = { writes: [], reads: [], texts: [], isInner: true, source: '' };
  const inner = commandsRunBy(command.words).map((words): SimpleCommand => ({ ...command, ...none, words }));
  count.words += inner.reduce((sum, { words }) => sum + words.length, 0);
  reading.commands.push(command, ...inner);
  const all = [command, ...inner];
  const values = command.words.slice(1).filter((word) => isAssignment(word));
  const kept = [...command.assigned, ...values].flatMap((word) => runsValue.exec(word)?.[1] ?? []);
  const scripts = [
    ...all.flatMap((each) => scriptsOf(each.words)),
    ...kept.map((text) => ({ text, isGuess: true, isSame: false })),
  ];
  const given = all.some(({ words }) => readsStdin(words)) ? printedInto(command) : [];
  const code = all.some(({ words }) => takesStdinCode(words)) ? printedInto(command) : [];
  const depth = run.depth + 1;
  for (const text of given) readScript(text, { ...run, state: copyOf(state), depth }, count);
  for (const { text, isGuess, isSame } of scripts) {
    readScript(text, { ...run, state: isSame ? state : copyOf(state), depth, isGuess: run.isGuess || isGuess }, count);
  }
  for (const text of code) {
    const words = [...commandsRunBy(['python', text])];
    reading.commands.push(...words.map((each) => ({ ...command, ...none, words: each })));
    for (const each of stringsIn(text)) readScript(each, { ...run, state: copyOf(state), depth, isGuess: true }, count);
  }
}

/** What a program reads from its stdin, as far as it is written there. */
function printedInto({ texts, from }: SimpleCommand): string[] {
  if (texts.length > 0) return texts;
  let source = from;
  // What only passes it on.
  for (let steps = 0; source && /^(tee|cat)$/.test(source.words[0] ?? '') && steps < 16; steps += 1) {
    if (source.texts.length > 0 || source.from === undefined) break;
    source = source.from;
  }
  return source ? printed(source.words, source.texts) : [];
}

/** Variables whose value programs run. */
const runsValue = /^(?:\w{0,40}(?:EDITOR|PAGER|_COMMAND|ASKPASS|_DIFF)|VISUAL|BROWSER|GIT_SSH)=(.*\s.*)$/s;

function isAssignment(word: string | undefined): boolean {
  return word !== undefined && /^[A-Za-z_]\w{0,255}(\[[^\]]{0,64}\])?\+?=/.test(word);
}

function knownNow({ shell, syntax, state }: ScriptRun): Known {
  const folders = [state.at, state.previous, shell.cwd].filter((each) => each !== undefined);
  return {
    home: shell.home,
    folders: [...new Set(folders)],
    previous: state.previous,
    variables: state.variables,
    substitutions: syntax.substitutions,
  };
}

function setVariables(words: readonly string[], known: Known, state: State): void {
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
function setLoop(words: readonly string[], known: Known, state: State): void {
  const at = words.indexOf('in');
  const name = words[at - 1];
  if (at < 1 || name === undefined) return;
  setVariable(
    state,
    name,
    words.slice(at + 1, at + 2 + maxValues).flatMap((word) => marked(word, known)),
  );
}

function fetches(word: string, { substitutions }: Syntax): boolean {
  if (!word.includes(marks.substitution)) return false;
  const numbers = [...word.matchAll(/\uE001(\d{1,9})\uE004/g)].map(([, number]) => Number(number));
  return numbers.some((number) => substitutions[number]?.some(({ words }) => isFetcher(programOf(words[0] ?? ''))));
}

export function isFetcher(program: string): boolean {
  return /^(curl|wget|fetch|aria2c|lynx|invoke-webrequest|iwr|irm)$/i.test(program);
}

/** Follows `cd`, `pushd` and `popd`. */
function moveFolder({ words: [program = '', ...rest], lost }: SimpleCommand, { state, shell }: ScriptRun): void {
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
