// Cuts rendered text into messages. Must never lose a visible character, break a character in two, or leave an entity
// outside its part. Loads no package.
//
// Invariant: without the numbers, the parts in order are the text with only white space missing, and only at its two ends
// and at cuts; every character that is not white space has the entities in its part that it has in the text.

import type { TextEntity, TextPart } from '../../protocol/relay-api.ts';
import { byPlace, isSpace, partOf, type Range, type Rendered, trimRange } from './sheet.ts';

export interface SplitLimits {
  /** UTF-16 units of one part, its number included; at least 32. */
  maxUnits: number;
  /** Entities of one part; at least 8, more than can begin at one place. */
  maxEntities?: number;
}

/** No part for text without a visible character; one part without a number; else parts that begin with a line "(1/3)". */
export function splitText(rendered: Rendered, { maxUnits, maxEntities = 100 }: SplitLimits): TextPart[] {
  const { text } = rendered;
  const entities = [...rendered.entities].sort(byPlace);
  const whole = trimRange(text, 0, text.length);
  if (whole.end === whole.start) return [];
  if (whole.end - whole.start <= maxUnits && entities.length <= maxEntities) return [partOf(text, entities, whole)];
  // The room that the number takes depends on the count of parts.
  for (let digits = 1; ; ) {
    const parts = cut(text, entities, whole, maxUnits - '(0/0)\n'.length - 2 * (digits - 1), maxEntities);
    const needed = String(parts.length).length;
    if (needed <= digits) return parts.map((part, i) => withFirstLine(`(${i + 1}/${parts.length})\n`, part));
    // With less room there are no fewer parts.
    digits = needed;
  }
}

/** A separate line also keeps the server from trimming the indentation of cut code. */
function withFirstLine(line: string, { text, entities }: TextPart): TextPart {
  return { text: line + text, entities: entities.map((each) => ({ ...each, offset: each.offset + line.length })) };
}

function cut(text: string, entities: TextEntity[], whole: Range, maxUnits: number, maxEntities: number): TextPart[] {
  const parts: TextPart[] = [];
  const reader = readAhead(entities, 2 * maxEntities);
  let start = whole.start;
  while (start < whole.end) {
    const end = Math.min(start + maxUnits, whole.end);
    const inWindow = reader(start, end);
    const tooMany = inWindow.slice(maxEntities).find(({ offset }) => offset > start);
    const limit = tooMany?.offset ?? end;
    const at = limit === whole.end ? limit : cutPoint(text, start, limit);
    const visible = trimRange(text, start, at);
    if (visible.end > start) parts.push(partOf(text, inWindow, { start, end: visible.end }));
    start = nextStart(text, at, whole.end);
  }
  return parts;
}

/**
 * Gives the entities in each of several ranges, sorted; `start` never goes back. Gives at most `most` and looks at each entity
 * only while it lasts, so that many parts and many entities do not multiply.
 */
function readAhead(entities: readonly TextEntity[], most: number): (start: number, end: number) => TextEntity[] {
  let lasting: TextEntity[] = [];
  let next = 0;
  return (start, end) => {
    lasting = lasting.filter(({ offset, length }) => offset + length > start);
    for (; lasting.length < most && next < entities.length; next += 1) {
      const entity = entities[next] as TextEntity;
      if (entity.offset >= end) break;
      if (entity.offset + entity.length > start) lasting.push(entity);
    }
    return lasting.filter(({ offset }) => offset < end);
  };
}

/** In the last half of the window: an empty line, else a newline, else a space; else between two characters. */
function cutPoint(text: string, start: number, limit: number): number {
  const earliest = start + Math.ceil((limit - start) / 2);
  for (const gap of ['\n\n', '\n', ' ']) {
    const at = text.lastIndexOf(gap, limit);
    if (at >= earliest) return at;
  }
  return characterBoundary(text, start, limit);
}

/** The last place at or before `limit` that is not inside a grapheme; a grapheme longer than the window is cut. */
function characterBoundary(text: string, start: number, limit: number): number {
  // A grapheme depends on the characters before it: begin after an ASCII character, which ends every grapheme.
  let from = limit - 1;
  while (from > start && text.charCodeAt(from - 1) > 0x7f) from--;
  const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text.slice(from, limit + 64));
  const boundary = from + (graphemes.containing(limit - from)?.index ?? 0);
  if (boundary > start) return boundary;
  return /[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(limit - 1, limit + 1)) ? limit - 1 : limit;
}

/** Skips white space at the cut, but keeps the indentation of the next line. */
function nextStart(text: string, at: number, end: number): number {
  let start = at;
  let lineStart = at;
  while (start < end && isSpace(text, start)) {
    start++;
    if (text[start - 1] === '\n') lineStart = start;
  }
  return lineStart > at ? lineStart : start;
}
