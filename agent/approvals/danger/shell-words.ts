// Reads a shell command line far enough to see what it runs and where, also behind `sudo`, in `sh -c '…'` and in `$(…)`. Bounded:
// what is more than the limits is not read, and said. A guard against mistakes, not against a program that hides what it does:
// what a program computes is not seen. Pure.

import { expand, type Known } from './shell-expand.ts';
import { marks, type RawCommand, type Syntax } from './shell-marks.ts';
import {
  commandsRunBy,
  printed,
  programOf,
  readsStdin,
  scriptsOf,
  stringsIn,
  takesStdinCode,
} from './shell-programs.ts';
import { copyOf, isAssignment, moveFolder, type Shell, type State, setLoop, setVariables } from './shell-state.ts';
import { parseShell } from './shell-syntax.ts';

export interface SimpleCommand extends Pick<RawCommand, 'writes' | 'reads' | 'texts'> {
  /** Unquoted; the first is the program's name without its folder. What only the shell knows is `marks.unknown`. */
  words: string[];
  /** `X=1` before it. */
  assigned: string[];
  /** Where it may run. */
  folders: readonly string[];
  /** It may run anywhere: a `cd` leads to an unknown folder. */
  lost: boolean;
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

export interface Reading {
  commands: SimpleCommand[];
  /** The rest is beyond the limits and was not read. */
  tooMuch: boolean;
}

/** Longer than a person reads. */
export const maxCommandChars = 65_536;
const maxCommands = 2_000;
const maxWords = 20_000;
const maxNested = 6;

export function readShell(line: string, shell: Shell): Reading {
  const reading: Reading = { commands: [], tooMuch: line.length > maxCommandChars };
  const variables = new Map(Object.entries(shell.variables ?? {}));
  const state = { at: shell.cwd, previous: variables.get('OLDPWD')?.[0], stack: [], variables, hasCdPath: false };
  const count = { words: 0 };
  readScript(line.slice(0, maxCommandChars), { shell, reading, state, depth: 0, isGuess: false }, count);
  return reading;
}

interface Where {
  shell: Shell;
  reading: Reading;
  state: State;
  depth: number;
  isGuess: boolean;
}

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

interface ScriptRun extends Where {
  syntax: Syntax;
  /** The command of each raw one. */
  made: Map<RawCommand, SimpleCommand>;
}

const keywords = new Set('then do else elif if while until ! { } coproc time fi done'.split(' '));
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
  moveFolder(command.words, command.lost, state, run.shell);
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

function fetches(word: string, { substitutions }: Syntax): boolean {
  if (!word.includes(marks.substitution)) return false;
  const numbers = [...word.matchAll(/\uE001(\d{1,9})\uE004/g)].map(([, number]) => Number(number));
  return numbers.some((number) => substitutions[number]?.some(({ words }) => isFetcher(programOf(words[0] ?? ''))));
}

export function isFetcher(program: string): boolean {
  return /^(curl|wget|fetch|aria2c|lynx|invoke-webrequest|iwr|irm)$/i.test(program);
}
