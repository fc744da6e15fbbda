// The short status update of a long answer, still Markdown. Must never cut inside a code fence or a character.
// Loads no package: the hook fallback bundles it.

interface Block {
  text: string;
  /** Code: the count of its lines. */
  codeLines?: number;
  /** Code in a list item, which is never kept as it is. */
  isNested?: boolean;
}

const mark = '…';
const gap = '\n\n';

/**
 * At most `maxChars` UTF-16 units: text that fits is unchanged; else whole paragraphs from the beginning, the last one cut
 * at a sentence or a word, and `…` where something is missing. Code that does not fit is named by its length.
 */
export function summarize(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const trimmed = text.trim();
  if (trimmed.length <= maxChars) return trimmed;
  if (maxChars <= mark.length) return mark.slice(0, Math.max(0, maxChars));

  const kept: string[] = [];
  let room = maxChars - gap.length - mark.length;
  const blocks = blocksOf(trimmed);
  for (const block of blocks) {
    if (kept.length > 0) room -= gap.length;
    const whole = fitting(block, room, maxChars);
    const piece = whole ?? (block.codeLines === undefined ? cutProse(block.text, room) : '');
    if (piece !== '') kept.push(piece);
    if (whole === null) break;
    room -= whole.length;
  }
  // A heading without its section says nothing.
  while (kept.length > 1 && /^#{1,6} [^\n]*$/.test(kept.at(-1) ?? '')) kept.pop();
  if (kept.length === 0) return blocks[0]?.codeLines === undefined ? hardCut(blocks[0]?.text ?? '', maxChars) : mark;
  // The mark would become part of a closing fence or of a table row.
  const needsOwnLine = /(?:^|\n)[ \t]*(?:`{3}|~{3}|\|)[^\n]*$/.test(kept.at(-1) ?? '');
  return kept.join(gap) + (needsOwnLine ? gap : ' ') + mark;
}

/** The block, or the length of code that is too long; null when neither fits. */
function fitting({ text, codeLines, isNested }: Block, room: number, maxChars: number): string | null {
  // Words come first on a phone: code may take half at most.
  const most = codeLines === undefined ? room : Math.min(room, maxChars / 2);
  if (!isNested && text.length <= most) return text;
  const named = codeLines === undefined ? text : `[code, ${codeLines} ${codeLines === 1 ? 'line' : 'lines'}]`;
  return named.length <= room ? named : null;
}

interface Fence {
  marker: string;
  /** The column of the marker: the closing line begins there too, and no line of the code begins before. */
  column: number;
}

/**
 * Paragraphs and fenced code; an unclosed fence runs to the end. Ends before fences that only a whole Markdown parser could pair: in
 * quotes, or left by a line with less indent.
 */
function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let lines: string[] = [];
  let fence: Fence | null = null;
  const flush = (code: Omit<Block, 'text'> = {}) => {
    const joined = lines.join('\n').trimEnd();
    if (joined.trim() !== '') blocks.push({ text: joined, ...code });
    lines = [];
  };
  const codeOf = ({ column }: Fence, codeLines: number) => ({ codeLines, isNested: column > 0 });
  for (const line of text.split(/\r?\n/)) {
    if (fence !== null) {
      if (line.trim() !== '' && line.length - line.trimStart().length < fence.column) return blocks;
      lines.push(line);
      if (!closes(line.slice(fence.column), fence)) continue;
      flush(codeOf(fence, lines.length - 2));
      fence = null;
      continue;
    }
    const opened = openedBy(line);
    if (opened !== null || line.trim() === '') flush();
    if (opened === 'unsure') return blocks;
    fence = opened;
    if (line.trim() !== '') lines.push(line);
  }
  if (fence === null) flush();
  else {
    const code = codeOf(fence, lines.length - 1);
    // Close the fence, so that a short one stays valid Markdown.
    lines.push(fence.marker);
    flush(code);
  }
  return blocks;
}

/** The fence that a line of prose opens, also at the start of a list item. */
function openedBy(line: string): Fence | 'unsure' | null {
  const [, before = '', marker, info = ''] = /^([\s>*+\-\d.)]*)(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
  if (marker === undefined) return null;
  if (marker.startsWith('`') && info.includes('`')) return null;
  const plain = /^ *(?:(?:[-*+]|\d{1,9}[.)]) {1,4})?$/.test(before);
  return plain ? { marker, column: before.length } : 'unsure';
}

function closes(line: string, { marker, column }: Fence): boolean {
  const [, found] = (column === 0 ? /^ {0,3}(`{3,}|~{3,})\s*$/ : /^(`{3,}|~{3,})\s*$/).exec(line) ?? [];
  return found !== undefined && found[0] === marker[0] && found.length >= marker.length;
}

/** The longest start of the text that ends with a sentence, an item or a table row, else with a word; '' when none fits. */
function cutProse(text: string, room: number): string {
  const atSentence = lastFitting(text, room, sentenceEnds(text, room));
  if (atSentence.length >= room / 3) return atSentence;
  const atWord = lastFitting(text, room, wordEnds(text, room));
  return atWord.length > atSentence.length ? atWord : atSentence;
}

function lastFitting(text: string, room: number, ends: number[]): string {
  for (let i = ends.length - 1; i >= 0; i--) {
    const piece = text.slice(0, ends[i]).trimEnd();
    const closed = piece + openMarkers(piece);
    if (closed.length <= room && !opensFence(closed)) return closed;
  }
  return '';
}

function sentenceEnds(text: string, room: number): number[] {
  const ends: number[] = [];
  // Full-width marks and curly quotes as escapes: hooks read their bundle as Latin-1.
  const end = /[.!?\u3002\uff01\uff1f](?:[)"'\u201d\u2019*_`\]]{0,4})(?=\s)|\n(?=[^\S\n]*(?:[-*+|]|\d{1,9}[.)])\s?)/g;
  for (const match of text.slice(0, room + 1).matchAll(end)) {
    const at = match[0] === '\n' ? match.index : match.index + match[0].length;
    const before = text.slice(Math.max(0, at - 12), at);
    // "e.g." and the number of a list item do not end a sentence.
    if (!/(?:\b(?:e\.g|i\.e|etc|vs|cf|no|approx)|(?:^|\n)\s*\d+)\.$/i.test(before)) ends.push(at);
  }
  return ends;
}

function wordEnds(text: string, room: number): number[] {
  return [...text.slice(0, room + 1).matchAll(/\s+/g)].map((match) => match.index).filter((at) => at > 0);
}

/** The marker that closes inline code or bold text after the cut; without it the phone shows bare stars. */
function openMarkers(piece: string): string {
  const withoutCode = piece.replace(/`[^`]*`/g, '');
  if (withoutCode.includes('`')) return '`';
  return (withoutCode.split('**').length - 1) % 2 === 1 ? '**' : '';
}

/** Inline code between three backticks, cut in the middle, would turn the following text into code. */
function opensFence(piece: string): boolean {
  return /(?:^|\n)[^\S\n]*`{3,}[^`\n]*$/.test(piece);
}

/** For one word that is longer than the room. */
function hardCut(text: string, maxChars: number): string {
  let end = maxChars - mark.length;
  const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text.slice(0, end + 64));
  // Undefined when the text ends before; 0 when its first character takes all the room.
  end = graphemes.containing(end)?.index || end;
  if (/[\ud800-\udbff]$/.test(text.slice(0, end))) end--;
  const piece = text.slice(0, end);
  return (opensFence(piece) ? '' : piece) + mark;
}
