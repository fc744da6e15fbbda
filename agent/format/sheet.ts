// The growing text with its marks, and the step that turns marks into entities the chat server accepts.
// Must never let an entity through that is empty, overlaps code, or nests in its own kind.

import type { TextEntity } from '../../protocol/relay-api.ts';

export interface Rendered {
  text: string;
  /** Sorted by offset, the longer first; UTF-16 units. */
  entities: TextEntity[];
}

export type Mark = Omit<TextEntity, 'offset' | 'length'> & { start: number; end: number };

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
export function marked(sheet: Sheet, mark: Omit<Mark, 'start' | 'end'>, body: () => void): void {
  const start = sheet.text.length;
  body();
  sheet.marks.push({ ...mark, start, end: sheet.text.length });
}

/** Trims the text and settles the marks into valid entities. Text without a visible character becomes ''. */
export function settle(sheet: Sheet): Rendered {
  const { text } = sheet;
  const whole = trimRange(text, 0, text.length);
  if (!isVisible(text)) return { text: '', entities: [] };
  const isCode = (mark: Mark) => mark.type === 'code' || mark.type === 'pre';
  const code = sheet.marks.filter(isCode).sort((a, b) => a.start - b.start);
  const pieces = [
    ...code,
    ...joinSameKind(sheet.marks.filter((mark) => !isCode(mark))).flatMap((mark) => cutAround(mark, code)),
  ];
  const entities = pieces.flatMap((mark): TextEntity[] => {
    const clipped = { start: Math.max(mark.start, whole.start), end: Math.min(mark.end, whole.end) };
    const range = trimRange(text, clipped.start, clipped.end);
    if (range.end <= range.start) return [];
    // Indentation inside code has a meaning, so code keeps it; code of nothing but space was dropped above.
    const { start, end } = isCode(mark) ? clipped : range;
    const { start: _, end: __, ...rest } = mark;
    return [{ ...rest, offset: start - whole.start, length: end - start }];
  });
  return { text: text.slice(whole.start, whole.end), entities: entities.sort(byPlace) };
}

/** Outer entities before the ones inside them. */
export function byPlace(a: TextEntity, b: TextEntity): number {
  return a.offset - b.offset || b.length - a.length || (a.type < b.type ? -1 : a.type > b.type ? 1 : 0);
}

/** The part of [start, end) without white space at its edges; end <= start for nothing but white space. */
export function trimRange(text: string, start: number, end: number): { start: number; end: number } {
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

/** `code` is sorted and free of overlaps. */
function cutAround(mark: Mark, code: Mark[]): Mark[] {
  const pieces: Mark[] = [];
  let start = mark.start;
  for (let i = firstEndingAfter(code, mark.start); i < code.length; i++) {
    const hole = code[i] as Mark;
    if (hole.start >= mark.end) break;
    if (hole.start > start) pieces.push({ ...mark, start, end: hole.start });
    start = Math.max(start, hole.end);
  }
  if (start < mark.end) pieces.push({ ...mark, start });
  return pieces;
}

function firstEndingAfter(code: Mark[], offset: number): number {
  let low = 0;
  let high = code.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((code[middle] as Mark).end > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}
