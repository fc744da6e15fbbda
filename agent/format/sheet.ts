// The growing text with its marks, and the step that turns marks into entities that the chat server accepts.
// Must never let an entity through that is empty, overlaps code, or nests in its own kind.

import type { TextEntity } from '../../protocol/relay-api.ts';

export interface Rendered {
  text: string;
  /** Sorted by offset, the longer first; UTF-16 units. */
  entities: TextEntity[];
}

/** Of a text, in UTF-16 units. */
export interface Range {
  start: number;
  end: number;
}

export type Mark = Omit<TextEntity, 'offset' | 'length'> & Range;

export interface Sheet {
  text: string;
  marks: Mark[];
  /** Written after each newline, so that a list item's lines stay under its first one. */
  indent: string;
  /** Inside a block quote, where code cannot be an entity without cutting the quote apart. */
  quoted: boolean;
}

export function newSheet(): Sheet {
  return { text: '', marks: [], indent: '', quoted: false };
}

/** Adds text that may have several lines. */
export function write(sheet: Sheet, text: string): void {
  sheet.text += sheet.indent === '' ? text : text.replaceAll('\n', `\n${sheet.indent}`);
}

/** Ends the block before: one newline, or two for an empty line. Does nothing at the start of the text. */
export function breakLine(sheet: Sheet, newlines: 1 | 2): void {
  if (sheet.text !== '') sheet.text += '\n'.repeat(newlines) + sheet.indent;
}

/** Adds code unchanged, from the first column on, because people copy it. */
export function writePre(sheet: Sheet, text: string, language = ''): void {
  const { indent } = sheet;
  if (indent !== '' && sheet.text.endsWith(`\n${indent}`)) sheet.text = sheet.text.slice(0, -indent.length);
  const start = sheet.text.length;
  sheet.text += text;
  sheet.marks.push({ type: 'pre', start, end: sheet.text.length, ...(language === '' ? {} : { language }) });
}

/** Marks the text that `body` writes. */
export function marked(sheet: Sheet, mark: Omit<Mark, keyof Range>, body: () => void): void {
  const start = sheet.text.length;
  body();
  sheet.marks.push({ ...mark, start, end: sheet.text.length });
}

/** Trims the text and settles the marks into valid entities. Text without a visible character becomes ''. */
export function settle({ text, marks }: Sheet): Rendered {
  if (!isVisible(text)) return { text: '', entities: [] };
  const code = marks.filter(isCode).sort((a, b) => a.start - b.start);
  const others = joinSameKind(marks.filter((mark) => !isCode(mark)));
  const entities = [...code, ...cutAround(others, code)].map(({ start, end, ...rest }) => ({
    ...rest,
    offset: start,
    length: end - start,
  }));
  return partOf(text, entities, trimRange(text, 0, text.length));
}

/** The part of the text in the range, with the entities cut to the range and without white space at their edges. */
export function partOf(text: string, entities: readonly TextEntity[], range: Range): Rendered {
  const inside = entities.flatMap(({ offset, length, ...rest }): TextEntity[] => {
    const clipped = { start: Math.max(offset, range.start), end: Math.min(offset + length, range.end) };
    const visible = trimRange(text, clipped.start, clipped.end);
    if (visible.end <= visible.start) return [];
    // Indentation inside code has a meaning, so code keeps its white space.
    const { start, end } = isCode(rest) ? clipped : visible;
    return [{ ...rest, offset: start - range.start, length: end - start }];
  });
  return { text: text.slice(range.start, range.end), entities: inside.sort(byPlace) };
}

function isCode({ type }: Pick<TextEntity, 'type'>): boolean {
  return type === 'code' || type === 'pre';
}

/** Outer entities before the ones inside them. */
export function byPlace(a: TextEntity, b: TextEntity): number {
  return a.offset - b.offset || b.length - a.length || (a.type < b.type ? -1 : a.type > b.type ? 1 : 0);
}

/** The part of [start, end) without white space at its edges; end <= start for nothing but white space. */
export function trimRange(text: string, start: number, end: number): Range {
  let from = start;
  let to = end;
  while (from < to && isSpace(text, from)) from++;
  while (to > from && isSpace(text, to - 1)) to--;
  return { start: from, end: to };
}

export function isSpace(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit === 32 || (unit >= 9 && unit <= 13) || (unit >= 0xa0 && /\s/.test(text.charAt(index)));
}

function isVisible(text: string): boolean {
  return /[^\s\p{Cf}\u115f\u1160\u2800\u3164\uffa0]/u.test(text);
}

/** Overlapping and touching marks of one kind (and one link target) become one. */
function joinSameKind(marks: Mark[]): Mark[] {
  const joined: Mark[] = [];
  const lastOfKind = new Map<string, Mark>();
  for (const mark of [...marks].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const kind = `${mark.type} ${mark.url ?? ''}`;
    const last = lastOfKind.get(kind);
    if (last !== undefined && mark.start <= last.end) {
      last.end = Math.max(last.end, mark.end);
    } else {
      const copy = { ...mark };
      lastOfKind.set(kind, copy);
      joined.push(copy);
    }
  }
  return joined;
}

/** The pieces of the marks outside code. Both lists are sorted by start, and code does not overlap. */
function cutAround(marks: readonly Mark[], code: readonly Mark[]): Mark[] {
  let next = 0;
  return marks.flatMap((mark) => {
    while (next < code.length && (code[next] as Mark).end <= mark.start) next++;
    const pieces: Mark[] = [];
    let { start } = mark;
    for (let i = next; i < code.length; i++) {
      const hole = code[i] as Mark;
      if (hole.start >= mark.end) break;
      if (hole.start > start) pieces.push({ ...mark, start, end: hole.start });
      start = Math.max(start, hole.end);
    }
    return start < mark.end ? [...pieces, { ...mark, start }] : pieces;
  });
}

const maxUrlUnits = 2048;

/**
 * The URL for a `text_link` entity: http or https, a host with a dot or an IPv6 address, no credentials; else null, because the
 * chat server refuses the whole message for one wrong URL.
 */
export function linkUrl(target: string): string | null {
  const url = URL.canParse(target) ? new URL(target) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return null;
  if (url.username !== '' || url.password !== '') return null;
  if (!/^(?:[a-z0-9_-]+\.)+[a-z0-9_-]+$/.test(url.hostname) && !url.hostname.startsWith('[')) return null;
  // The parser repairs blanks and backslashes and the server does not, so the server gets the repaired form of such a target.
  const asWritten = /^https?:\/\/[!-[\]-~]+$/i.test(target) && target.slice(0, -1).includes(url.host);
  const chosen = asWritten ? target : url.href;
  return chosen.length <= maxUrlUnits ? chosen : null;
}
