// What the shell makes of a marked word: variables, `~`, braces, the few substitutions whose output is known. What it cannot know
// becomes `marks.unknown`. Bounded. Pure.

import { bracesExpanded, nameOf } from './paths.ts';
import { marks, quote, type RawCommand, type Syntax, unquote } from './shell-marks.ts';

/** What a command may know while it is read. */
export interface Known {
  home: string;
  /** Where the command may run; the first is the likeliest. */
  folders: readonly string[];
  previous: string | undefined;
  /** Marked values. */
  variables: ReadonlyMap<string, readonly string[]>;
  substitutions: Syntax['substitutions'];
}

/** A word with more ways to read it is unknown. */
const maxWays = 32;
const maxMarks = 64;

export function isUnknown(word: string): boolean {
  return word.includes(marks.unknown);
}

/** The words that a word may become, without marks but `unknown`. Never empty, but for a variable that is nothing. */
export function expand(word: string, known: Known): string[] {
  return marked(word, known).flatMap((each) => bracesExpanded(each).map((way) => unquote(tilde(way, known))));
}

/** The same with the marks of what was quoted, for the value of a variable. */
export function marked(word: string, known: Known): string[] {
  if (!/[\uE000-\uE005]/.test(word)) return [word];
  if ((word.match(/[\uE001-\uE003]/g)?.length ?? 0) > maxMarks) return [marks.unknown];
  const fields = new Set<string>();
  let ways = [''];
  /** Nothing but variables without quotes: no word is left of what is empty. */
  let mayVanish = true;
  for (let at = 0; at < word.length; ) {
    const end = endOfMark(word, at);
    const part = word.slice(at, end);
    const values = valuesOf(part, known);
    at = end;
    mayVanish &&= part[0] === marks.variable;
    const next = ways.length * values.length > maxWays ? [ways[0] + marks.unknown] : cross(ways, values);
    ways = [];
    for (const way of next) {
      const parts = way.split(marks.field);
      ways.push(parts.pop() as string);
      for (const field of parts) if (field !== '' && fields.size < maxWays) fields.add(field);
    }
  }
  return [...fields, ...ways.filter((way) => way !== '' || (fields.size === 0 && !mayVanish))];
}

function cross(before: readonly string[], values: readonly string[]): string[] {
  return before.flatMap((way) => values.map((value) => way + value));
}

/** Of the mark that begins at `at`, or of the plain text there. */
function endOfMark(word: string, at: number): number {
  const isMark = (char: string | undefined) => char !== undefined && char >= marks.substitution && char < marks.end;
  let end = at;
  if (!isMark(word[at])) {
    while (end < word.length && !isMark(word[end])) end += 1;
    return end;
  }
  let depth = 0;
  while (end < word.length) {
    if (isMark(word[end])) depth += 1;
    if (word[end] === marks.end) depth -= 1;
    end += 1;
    if (depth === 0) break;
  }
  return end;
}

function valuesOf(part: string, known: Known): readonly string[] {
  const mark = part[0];
  const body = part.slice(1, -1);
  if (mark === marks.substitution) return [outputOf(known.substitutions[Number(body)] ?? [], known)];
  if (mark === marks.variable) return variable(body, known).map((value) => value.replace(/\s+/g, marks.field));
  if (mark === marks.quotedVariable) return variable(body, known).map((value) => value.replaceAll(marks.field, ' '));
  return [part];
}

/** `name`, or what stands in `${…}`. */
function variable(expression: string, known: Known): readonly string[] {
  const [, name = '', rest = ''] = /^([!#]?[A-Za-z_]\w*|[!#]?[0-9@*#?$!-])(.*)$/s.exec(expression) ?? [];
  if (/^(#.+|[?$#!]|RANDOM|SECONDS|LINENO|UID|EUID|PPID|SHLVL)$/.test(name)) return ['0'];
  if (name === 'IFS') return [' '];
  const values = valuesOfName(name, known);
  const [, operator = '', word = ''] = /^(:?[-=?+]|##?|%%?)?(.*)$/s.exec(rest) ?? [];
  if (rest === '' || /[?]$/.test(operator)) return values ?? [marks.unknown];
  if (/[-=]$/.test(operator)) return [...marked(word, known), ...(values ?? [marks.unknown])];
  if (operator.endsWith('+')) return ['', ...marked(word, known)];
  if (operator === '') return [marks.unknown];
  const pattern = unquote(word);
  return (values ?? [marks.unknown]).map((value) => stripped(value, operator, pattern));
}

function valuesOfName(name: string, { home, folders, previous, variables }: Known): readonly string[] | undefined {
  const given = variables.get(name);
  if (given) return given;
  if (name === 'HOME') return [home];
  if (name === 'PWD') return folders;
  return name === 'OLDPWD' && previous !== undefined ? [previous] : undefined;
}

/** `${x%.ts}` and its kin, where a star stands at one end at most. */
function stripped(value: string, operator: string, pattern: string): string {
  const isEnd = operator.startsWith('%');
  const star = pattern.indexOf('*');
  const fixed = star < 0 ? pattern : isEnd ? pattern.slice(0, star) : pattern.slice(star + 1);
  if (value.includes(marks.unknown) || /[*?[\uE000-\uE005]/.test(fixed)) return marks.unknown;
  if (star < 0) {
    if (isEnd) return value.endsWith(fixed) ? value.slice(0, value.length - fixed.length) : value;
    return value.startsWith(fixed) ? value.slice(fixed.length) : value;
  }
  const isOnlyStar = star === (isEnd ? pattern.length - 1 : 0);
  if (!isOnlyStar || fixed === '') return marks.unknown;
  const isLongest = operator.length === 2;
  const at = isEnd === isLongest ? value.indexOf(fixed) : value.lastIndexOf(fixed);
  if (at < 0) return value;
  return isEnd ? value.slice(0, at) : value.slice(at + fixed.length);
}

/** Of commands that print what is known, or what is harmless as a part of any path. */
function outputOf(commands: readonly RawCommand[], known: Known): string {
  const [command] = commands;
  if (commands.length !== 1 || !command) return marks.unknown;
  const [program = '', ...rest] = command.words.map((word) => (/[\uE000-\uE005]/.test(word) ? word : unquote(word)));
  if (program === 'pwd') return known.folders[0] ?? marks.unknown;
  if (program === 'mktemp') return '/tmp/mktemp';
  if (/^(date|nproc|hostname|whoami|uname|id)$/.test(program)) return '0';
  if (program === 'git') {
    if (rest.includes('--show-toplevel')) return known.folders.at(-1) ?? marks.unknown;
    return /^(rev-parse|describe|rev-list|merge-base|branch|symbolic-ref)$/.test(rest[0] ?? '') ? '0' : marks.unknown;
  }
  if (program !== 'echo' || rest.some((word) => word.startsWith('-'))) return marks.unknown;
  return rest.flatMap((word) => marked(word, known)).join(marks.field);
}

function tilde(word: string, { home, folders, previous }: Known): string {
  return word.replace(/(^|[=:])~([\w.+-]*)(?=\/|$|:)/g, (all, before: string, name: string) => {
    if (name === '' || name === nameOf(home)) return before + quote(home);
    if (name === '+') return before + quote(folders[0] ?? marks.unknown);
    if (name === '-') return before + (previous === undefined ? marks.unknown : quote(previous));
    return /^\w/.test(name) ? `${before}${quote(home.slice(0, home.lastIndexOf('/')))}/${name}` : all;
  });
}
