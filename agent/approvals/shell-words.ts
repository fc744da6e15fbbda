// Reads a shell command line far enough to see what it runs, also behind `sudo`, in `sh -c '…'` and in `$(…)`. Pure.
// A guard against mistakes, not against somebody who hides: what a program computes is not seen.

import { commandsRunBy, programOf, readsStdin, scriptsOf } from './shell-programs.ts';

export interface SimpleCommand {
  /** Unquoted; the first is the program's name without its folder. */
  words: string[];
  /** Files that `>` and its kin write. */
  writes: string[];
  /** Files that `<` reads: no arguments of the program. */
  reads: string[];
}

const keywords = new Set(['then', 'do', 'else', 'elif', 'if', 'while', 'until', '!', '{', 'coproc']);
const operators = new Set([';', '&', '|', '\n', '(', ')']);
const maxDepth = 4;

/** In a word: what only the shell knows. */
const computed = '$(…)';

export function simpleCommands(line: string, depth = 0): SimpleCommand[] {
  const commands: SimpleCommand[] = [];
  let now = emptyCommand();
  let word: string | undefined;
  let kind: keyof SimpleCommand = 'words';
  const endWord = () => {
    if (word === undefined) return;
    now[kind].push(word);
    kind = 'words';
    word = undefined;
  };
  const endCommand = () => {
    endWord();
    if (Object.values(now).some((each) => each.length > 0)) commands.push(...unwrap(now, depth));
    now = emptyCommand();
    kind = 'words';
  };
  for (let i = 0; i < line.length; i += 1) {
    const char = line[i] as string;
    if (char === "'") {
      const end = line.indexOf("'", i + 1);
      word = (word ?? '') + line.slice(i + 1, end < 0 ? undefined : end);
      i = end < 0 ? line.length : end;
    } else if (char === '"') {
      const end = endOfQuoted(line, i + 1, '"');
      const inner = line.slice(i + 1, end);
      word = (word ?? '') + inner.replace(/\\(["\\$`])/g, '$1');
      for (const nested of substitutions(inner))
        if (depth < maxDepth) commands.push(...simpleCommands(nested, depth + 1));
      i = end;
    } else if (char === '\\') {
      if (line[i + 1] !== '\n') word = (word ?? '') + (line[i + 1] ?? '');
      i += 1;
    } else if (char === '$' && line[i + 1] === "'") {
      const end = endOfQuoted(line, i + 2, "'");
      word = (word ?? '') + unescaped(line.slice(i + 2, end));
      i = end;
    } else if (char === '`' || ((char === '$' || char === '<') && line[i + 1] === '(')) {
      // What stands behind the closing mark is read as a command of its own.
      word = (word ?? '') + computed;
      endCommand();
      if (char !== '`') i += 1;
    } else if (char === '<') {
      if (word !== undefined && !/^\d*$/.test(word)) endWord();
      word = undefined;
      const from = i;
      while (line[i + 1] === '<' || line[i + 1] === '&') i += 1;
      // What follows `<<<` is what the program reads; behind one or two stands only its name.
      if (i - from < 2) kind = 'reads';
    } else if (char === '>') {
      // The number or & before it is no word of the command.
      if (word !== undefined && !/^\d*$/.test(word)) endWord();
      word = undefined;
      while (line[i + 1] === '>' || line[i + 1] === '|') i += 1;
      if (line[i + 1] === '&') i += 1;
      kind = 'writes';
    } else if (operators.has(char)) {
      if (char === '&' && line[i + 1] === '>') continue;
      endCommand();
    } else if (/\s/.test(char)) {
      if (word !== undefined) endWord();
    } else if (char === '#' && word === undefined) {
      const end = line.indexOf('\n', i);
      i = end < 0 ? line.length : end - 1;
    } else {
      word = (word ?? '') + char;
    }
  }
  endCommand();
  const piped = commands.some(readsStdin) && depth < maxDepth ? commands.flatMap(printed) : [];
  return [...commands, ...piped.flatMap((script) => simpleCommands(script, depth + 1))];
}

function emptyCommand(): SimpleCommand {
  return { words: [], writes: [], reads: [] };
}

/** What a shell at the end of the pipe is given to run. */
function printed({ words: [program = '', ...rest] }: SimpleCommand): string[] {
  return /^(echo|printf)$/.test(program) ? [rest.filter((word) => !word.startsWith('-')).join(' ')] : [];
}

/** Of `$'…'`. */
function unescaped(text: string): string {
  return text.replace(/\\(?:x([0-9a-f]{1,2})|([0-7]{1,3})|(.))/gis, (_, hex, octal, char) =>
    char === undefined ? String.fromCharCode(hex ? Number.parseInt(hex, 16) : Number.parseInt(octal, 8)) : char,
  );
}

function endOfQuoted(line: string, from: number, quote: string): number {
  for (let i = from; i < line.length; i += 1) {
    if (line[i] === '\\') i += 1;
    else if (line[i] === quote) return i;
  }
  return line.length;
}

function isAssignment(word: string): boolean {
  return /^[A-Za-z_]\w*=/.test(word);
}

function substitutions(text: string): string[] {
  return [...text.matchAll(/\$\(([^)]*)\)|`([^`]*)`/g)].map(([, first, second]) => first ?? second ?? '');
}

function unwrap({ words, ...files }: SimpleCommand, depth: number): SimpleCommand[] {
  let rest = [...words];
  while (rest[0] !== undefined && (isAssignment(rest[0]) || keywords.has(rest[0]))) rest = rest.slice(1);
  const program = programOf(rest[0] ?? '');
  const command: SimpleCommand = { words: rest.length === 0 ? [] : [program, ...rest.slice(1)], ...files };
  const run = commandsRunBy(command.words).map((inner): SimpleCommand => ({ ...emptyCommand(), words: inner }));
  const scripts = depth < maxDepth ? [command, ...run].flatMap(({ words: each }) => scriptsOf(each)) : [];
  return [command, ...run, ...scripts.flatMap((script) => simpleCommands(script, depth + 1))];
}
