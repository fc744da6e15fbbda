// MarkdownV2, a markup of chat bots, as text with entities, for writers who chose it. As strict as the chat server: a text that breaks
// its rules is refused. Loads no package.

import { linkUrl, type Mark, newSheet, type Rendered, type Sheet, settle } from './sheet.ts';

/** Longer markers first: `__` is never read as two `_`. */
const markers: readonly (readonly [string, Mark['type']])[] = [
  ['```', 'pre'],
  ['__', 'underline'],
  ['||', 'spoiler'],
  ['`', 'code'],
  ['*', 'bold'],
  ['_', 'italic'],
  ['~', 'strikethrough'],
  ['[', 'text_link'],
];
const reserved = new Set('_*[]()~`>#+-=|{}.!');

interface Open {
  marker: string;
  type: Mark['type'];
  start: number;
  language?: string;
}

interface Reader {
  readonly source: string;
  at: number;
  readonly sheet: Sheet;
  readonly open: Open[];
  quote: { start: number; expandable: boolean } | undefined;
}

/** Undefined = the text breaks the rules: an unescaped reserved character, or a mark that never ends. */
export function parseMarkdownV2(source: string): Rendered | undefined {
  const reader: Reader = { source, at: 0, sheet: newSheet(), open: [], quote: undefined };
  while (reader.at < source.length) if (!step(reader)) return undefined;
  if (reader.open.length > 0) return undefined;
  endQuote(reader);
  return settle(reader.sheet);
}

/** Reads one character or mark; false = the text breaks the rules. */
function step(reader: Reader): boolean {
  const { source, at } = reader;
  const top = reader.open.at(-1);
  const next = source.charCodeAt(at + 1);
  if (source[at] === '\\' && next >= 1 && next <= 126) return take(reader, source.charAt(at + 1), 2);
  if (top?.type === 'code' || top?.type === 'pre') {
    if (source.startsWith(top.marker, at)) return end(reader, top);
    return source[at] !== '`' && take(reader, source.charAt(at), 1);
  }
  if (at === 0 || source[at - 1] === '\n') {
    if (startQuote(reader)) return true;
    endQuote(reader);
  }
  if (reader.quote && !isOpen(reader, '||') && /^\|\|(\n|$)/.test(source.slice(at, at + 3))) {
    reader.quote.expandable = true;
    reader.at += 2;
    return true;
  }
  if (top?.marker === '[' && source[at] === ']') return endLink(reader, top);
  const marker = markers.find(([each]) => source.startsWith(each, at));
  if (marker)
    return top && top.marker === marker[0] && top.type !== 'text_link' ? end(reader, top) : begin(reader, ...marker);
  return !reserved.has(source.charAt(at)) && take(reader, source.charAt(at), 1);
}

function isOpen({ open }: Reader, marker: string): boolean {
  return open.some((each) => each.marker === marker);
}

function begin(reader: Reader, marker: string, type: Mark['type']): boolean {
  if (isOpen(reader, marker)) return false;
  reader.at += marker.length;
  const open: Open = { marker, type, start: reader.sheet.text.length };
  if (type === 'pre') {
    const language = /^([^\s`]*)\n/.exec(reader.source.slice(reader.at, reader.at + 80));
    if (language?.[1]) open.language = language[1];
    reader.at += language?.[0].length ?? 0;
  }
  reader.open.push(open);
  return true;
}

function end(reader: Reader, { marker, type, start, language }: Open): boolean {
  reader.open.pop();
  reader.at += marker.length;
  reader.sheet.marks.push({ type, start, end: reader.sheet.text.length, ...(language ? { language } : {}) });
  return true;
}

function endLink(reader: Reader, { start }: Open): boolean {
  const target = /^\]\(((?:[^)\\]|\\.)*)\)/s.exec(reader.source.slice(reader.at));
  if (!target) return false;
  reader.open.pop();
  reader.at += target[0].length;
  const url = linkUrl((target[1] ?? '').replace(/\\(.)/gs, '$1'));
  if (url !== null) reader.sheet.marks.push({ type: 'text_link', start, end: reader.sheet.text.length, url });
  return true;
}

/** `>` begins or continues a quote; `**>` begins another quote right after the first. */
function startQuote(reader: Reader): boolean {
  const fresh = reader.source.startsWith('**>', reader.at);
  if (!fresh && reader.source[reader.at] !== '>') return false;
  if (fresh) endQuote(reader);
  reader.quote ??= { start: reader.sheet.text.length, expandable: false };
  reader.at += fresh ? 3 : 1;
  return true;
}

function endQuote(reader: Reader): void {
  if (!reader.quote) return;
  const { start, expandable } = reader.quote;
  const type = expandable ? 'expandable_blockquote' : 'blockquote';
  reader.sheet.marks.push({ type, start, end: reader.sheet.text.length });
  reader.quote = undefined;
}

function take(reader: Reader, char: string, units: number): boolean {
  reader.sheet.text += char;
  reader.at += units;
  return true;
}
