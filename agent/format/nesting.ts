// What of a Markdown text takes the parser a time that grows with its square: block quotes and lists that nest deep, lines
// that belong to one without its mark, and headings that are underlined. One look at each line, never finding less than the parser would. Pure.

/** Nobody writes more than a few. */
export const maxNesting = 32;
/** For each of them the parser goes over all that stands before. */
export const maxUnderlines = 200;
/** In one go, behind a quote or an item, without its mark or indentation. */
export const maxLazyLines = 500;

const space = 0x20;
const tab = 0x09;

/** True = a line may stand in more than `maxNesting` quotes and items, or there are too many of the others. */
export function isTooIntricate(source: string): boolean {
  /** The columns in which the items that may still be open begin. */
  const open: number[] = [];
  let underlines = 0;
  let lazy = Number.NEGATIVE_INFINITY;
  for (let at = 0; at <= source.length; ) {
    let newline = source.indexOf('\n', at);
    if (newline < 0) newline = source.length;
    if (lineNests(source, at, newline, open) > maxNesting) return true;
    if (at > 1 && source[at - 2] !== '\n' && isUnderline(source, at, newline)) underlines += 1;
    if (underlines > maxUnderlines) return true;
    lazy = lazyLines(source, at, newline, lazy);
    if (lazy > maxLazyLines) return true;
    at = newline + 1;
  }
  return false;
}

/** Of a `>` only the count matters: it closes no item to its left. */
function lineNests(source: string, start: number, end: number, open: number[]): number {
  let quotes = 0;
  let column = 0;
  for (let at = start; at < end; ) {
    const code = source.charCodeAt(at);
    if (isBlank(code)) {
      column += code === tab ? 4 - (column % 4) : 1;
      at += 1;
      continue;
    }
    if (code === 0x3e) {
      quotes += 1;
      column += 1;
      at += 1;
      continue;
    }
    const marker = markerLength(source, at, end);
    if (marker === 0) break;
    while (open.length > 0 && (open.at(-1) as number) >= column) open.pop();
    open.push(column);
    column += marker;
    at += marker;
    if (quotes + open.length > maxNesting) break;
  }
  return quotes + open.length;
}

/** How many there are now in one go; minus infinity = none of them can be one. */
function lazyLines(source: string, start: number, end: number, before: number): number {
  const line = source.slice(start, Math.min(end, start + 1_000));
  if (/^[ \t]*$/.test(line) || /^ {0,3}(?:#|~{3}|`{3,}[^`]*$)/.test(line)) return Number.NEGATIVE_INFINITY;
  if (/^[ \t]*(?:>|[-+*]|\d{1,9}[.)])/.test(line)) return 0;
  return before + 1;
}

/** Nothing but a run of `=` or `-`, spaces around it, and the marks of quotes. */
function isUnderline(source: string, start: number, end: number): boolean {
  let at = end - 1;
  while (at >= start && isBlank(source.charCodeAt(at))) at -= 1;
  const sign = source[at];
  if (at < start || (sign !== '-' && sign !== '=')) return false;
  while (at >= start && source[at] === sign) at -= 1;
  while (at >= start && (isBlank(source.charCodeAt(at)) || source[at] === '>')) at -= 1;
  return at < start;
}

/** 0 = no list item begins here. */
function markerLength(source: string, at: number, end: number): number {
  let length = 0;
  while (length < 9 && isDigit(source.charCodeAt(at + length))) length += 1;
  const sign = source.charAt(at + length);
  if (length > 0 ? sign !== '.' && sign !== ')' : sign !== '-' && sign !== '+' && sign !== '*') return 0;
  const after = source.charCodeAt(at + length + 1);
  return at + length + 1 >= end || isBlank(after) ? length + 1 : 0;
}

function isBlank(code: number): boolean {
  return code === space || code === tab;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
