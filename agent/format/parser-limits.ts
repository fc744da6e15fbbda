// What would take the Markdown parser a time that grows with the square of the text: block quotes and lists that are deep or begin
// again and again, lazy lines, underlined headings, and marks of emphasis and brackets in one paragraph. Ordinary Markdown must pass
// unchanged. Pure.

import type { gfm } from 'micromark-extension-gfm';

/** Block quotes and list items around one line. */
export const maxNesting = 32;
/** Underlined headings: for each of them the parser goes over the whole text before. */
export const maxUnderlines = 200;
/** Lines in a row that continue a quote or an item without its mark or indentation. */
export const maxLazyLines = 500;
/** Quotes and lists that begin or end: for each of them the parser goes over what it found before. */
export const maxContainers = 1_000;
/** Marks in one paragraph, cell or heading that may still begin or end something. */
export const maxMarks = 1_000;

/** True when the text exceeds a limit of nesting, underlines, lazy lines or containers. Counts at least as many as the parser would find. */
export function isTooIntricate(source: string): boolean {
  /** The columns in which the items that may still be open begin. */
  const open: number[] = [];
  let underlines = 0;
  let lazy = Number.NEGATIVE_INFINITY;
  let containers = 0;
  let marksBefore = '';
  let before = '';
  for (const line of source.split('\n')) {
    if (nestingOf(line, open) > maxNesting) return true;
    if (before !== '' && /^[ \t>]*(?:=+|-+)[ \t]*$/.test(line)) underlines += 1;
    if (underlines > maxUnderlines) return true;
    lazy = lazyLines(line.slice(0, 1_000), lazy);
    if (lazy > maxLazyLines) return true;
    const marks = marksOf(line, marksBefore);
    if (marks !== marksBefore || /[^>\s]\s*\S/.test(marks)) containers += 1;
    marksBefore = marks;
    if (containers > maxContainers) return true;
    before = line;
  }
  return false;
}

/** A `>` only counts: it closes no item to its left. Updates `open`. */
function nestingOf(line: string, open: number[]): number {
  /** A blank, or a mark of a quote or a list item. */
  const piece = /[ \t>]|(?:\d{1,9}[.)]|[-+*])(?=[ \t]|$)/y;
  let quotes = 0;
  let column = 0;
  for (let match = piece.exec(line); match !== null; match = piece.exec(line)) {
    const [mark] = match;
    if (mark === '>') quotes += 1;
    else if (mark.trim() !== '') {
      while (open.length > 0 && (open.at(-1) as number) >= column) open.pop();
      open.push(column);
      if (quotes + open.length > maxNesting) break;
    }
    column += mark === '\t' ? 4 - (column % 4) : mark.length;
  }
  return quotes + open.length;
}

/** The marks of quotes and items at the beginning of a line, as `> -`; those of the line before where it may continue their text. */
function marksOf(line: string, before: string): string {
  const [start = ''] = /^(?:[ \t]*(?:>|(?:\d{1,9}[.)]|[-+*])(?=[ \t]|$)))*/.exec(line) ?? [];
  const marks = start.replace(/\d/g, '').trimEnd();
  const continues = marks === '' && (line.trim() === '' ? !before.includes('>') : /^(?: {2}|\t)/.test(line));
  return continues ? before : marks;
}

/** The lazy lines in a row up to this one; minus infinity when the next line cannot be lazy. */
function lazyLines(line: string, before: number): number {
  if (/^[ \t]*$/.test(line) || /^ {0,3}(?:#|~{3}|`{3,}[^`]*$)/.test(line)) return Number.NEGATIVE_INFINITY;
  if (/^[ \t]*(?:>|[-+*]|\d{1,9}[.)])/.test(line)) return 0;
  return before + 1;
}

type Extension = ReturnType<typeof gfm>;
type Construct = Extract<NonNullable<Extension['text']>[string], { tokenize: unknown }>;
type Tokenizer = Construct['tokenize'];
type State = Parameters<Tokenizer>[1];
type Code = Parameters<State>[0];
type TokenizeContext = ThisParameterType<Tokenizer>;

/** `!`, `<`, `[`, `]`: one each. */
const brackets = [33, 60, 91, 93];
/** `*`, `_`, `~`: the parser takes a run as one, and splits that later. */
const emphasis = [42, 95, 126];

/**
 * A parser extension for one parse: after `maxMarks` marks, the rest of each line is text. The parser looks up emphasis and
 * brackets by walking back over everything before them.
 */
export function boundedInline(): Extension {
  const marks = new WeakMap<TokenizeContext, number>();
  const tokenize: Tokenizer = function (effects, ok, nok) {
    const before = marks.get(this) ?? 0;
    let run = 0;
    let first: Code = null;
    const start: State = (code) => {
      first = code;
      effects.enter('data');
      return count(code);
    };
    const count: State = (code) => {
      const isCounted = code === first && (run === 0 || emphasis.includes(code as number));
      if (isCounted && before + run < maxMarks) {
        run += 1;
        effects.consume(code);
        return count;
      }
      if (isCounted) return rest(code);
      marks.set(this, before + run);
      return nok(code);
    };
    const rest: State = (code) => {
      // Line endings are negative, the end is null.
      if (code !== null && code >= 0) {
        effects.consume(code);
        return rest;
      }
      effects.exit('data');
      return ok(code);
    };
    return start;
  };
  const construct = { name: 'boundedInline', tokenize };
  // At each word: the chat server finds addresses of mail by itself.
  const disable = { null: ['emailAutolink'] };
  return { disable, text: Object.fromEntries([...brackets, ...emphasis].map((code) => [code, construct])) };
}
