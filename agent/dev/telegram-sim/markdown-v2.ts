// Parses parse_mode MarkdownV2 by the rules of the server: what is reserved and not escaped is refused, never shown.

import type { MessageEntity } from 'grammy/types';
import { checkUrl, type FormattedText } from './entities.ts';
import { badRequest } from './refusal.ts';

interface OpenEntity {
  marker: string;
  type: Exclude<MessageEntity['type'], 'text_mention' | 'custom_emoji' | 'date_time'>;
  offset: number;
  byteOffset: number;
  language?: string;
}

const reserved = new Set('_*[]()~`>#+-=|{}.!');
const typeOfMarker: Record<string, OpenEntity['type']> = {
  '*': 'bold',
  _: 'italic',
  __: 'underline',
  '~': 'strikethrough',
  '||': 'spoiler',
  '`': 'code',
  '```': 'pre',
};

interface Cursor {
  source: string;
  at: number;
  text: string;
  open: OpenEntity[];
  entities: MessageEntity[];
  quoteFrom: number | undefined;
}

/** @throws {Refusal} 400 "can't parse entities: …" */
export function parseMarkdownV2(source: string): FormattedText {
  const cursor: Cursor = { source, at: 0, text: '', open: [], entities: [], quoteFrom: undefined };
  while (cursor.at < source.length) step(cursor);
  const unclosed = cursor.open.at(-1);
  if (unclosed) {
    const name = unclosed.type[0]?.toUpperCase() + unclosed.type.slice(1);
    throw unparsable(`Can't find end of ${name} entity at byte offset ${unclosed.byteOffset}`);
  }
  closeQuote(cursor);
  return { text: cursor.text, entities: cursor.entities.sort((a, b) => a.offset - b.offset || b.length - a.length) };
}

function step(cursor: Cursor): void {
  const { source, at } = cursor;
  const char = source.charAt(at);
  const top = cursor.open.at(-1);
  if (char === '\\' && isEscapable(source.charCodeAt(at + 1))) take(cursor, source.charAt(at + 1), 2);
  else if (top && (top.marker === '`' || top.marker === '```')) stepInCode(cursor, top, char);
  else if (isLineStart(source, at) && char === '>') {
    cursor.quoteFrom ??= cursor.text.length;
    cursor.at += 1;
  } else {
    if (isLineStart(source, at)) closeQuote(cursor);
    stepInText(cursor, top, char);
  }
}

function stepInCode(cursor: Cursor, top: OpenEntity, char: string): void {
  if (cursor.source.startsWith(top.marker, cursor.at)) close(cursor, top);
  else if (char === '`') throw unreserved('`');
  else take(cursor, char, 1);
}

function stepInText(cursor: Cursor, top: OpenEntity | undefined, char: string): void {
  const marker = markerAt(cursor.source, cursor.at);
  if (marker !== undefined && top?.marker === marker) close(cursor, top);
  else if (marker !== undefined) open(cursor, marker);
  else if (char === '[') {
    const byteAt = byteOffset(cursor.source, cursor.at);
    cursor.open.push({ marker: '[', type: 'text_link', offset: cursor.text.length, byteOffset: byteAt });
    cursor.at += 1;
  } else if (char === ']' && top?.marker === '[') closeLink(cursor, top);
  else if (reserved.has(char)) throw unreserved(char);
  else take(cursor, char, 1);
}

function isLineStart(source: string, at: number): boolean {
  return at === 0 || source.charAt(at - 1) === '\n';
}

function markerAt(source: string, at: number): string | undefined {
  // "__ is always greedily treated from left to right as beginning or end of an underline entity."
  return ['```', '__', '||', '`', '*', '_', '~'].find((marker) => source.startsWith(marker, at));
}

function open(cursor: Cursor, marker: string): void {
  const type = typeOfMarker[marker] as OpenEntity['type'];
  if (cursor.open.some((entity) => entity.marker === marker)) throw unreserved(marker.charAt(0));
  const entity: OpenEntity = {
    marker,
    type,
    offset: cursor.text.length,
    byteOffset: byteOffset(cursor.source, cursor.at),
  };
  cursor.at += marker.length;
  if (marker === '```') {
    const language = /^([^\s`]+)\n/.exec(cursor.source.slice(cursor.at));
    if (language?.[1]) entity.language = language[1];
    cursor.at += language ? language[0].length : cursor.source.charAt(cursor.at) === '\n' ? 1 : 0;
  }
  cursor.open.push(entity);
}

function close(cursor: Cursor, entity: OpenEntity): void {
  cursor.open.pop();
  cursor.at += entity.marker.length;
  const { type, offset, language } = entity;
  const length = cursor.text.length - offset;
  if (length > 0) cursor.entities.push({ type, offset, length, ...(language && { language }) } as MessageEntity);
}

function closeLink(cursor: Cursor, entity: OpenEntity): void {
  cursor.open.pop();
  cursor.at += 1;
  const target = /^\(((?:[^)\\]|\\.)*)\)/.exec(cursor.source.slice(cursor.at));
  if (!target) throw unreserved('(');
  cursor.at += target[0].length;
  const url = checkUrl((target[1] ?? '').replace(/\\(.)/g, '$1'));
  const length = cursor.text.length - entity.offset;
  if (length > 0) cursor.entities.push({ type: 'text_link', offset: entity.offset, length, url });
}

function closeQuote(cursor: Cursor): void {
  if (cursor.quoteFrom === undefined) return;
  const length = cursor.text.length - cursor.quoteFrom;
  if (length > 0) cursor.entities.push({ type: 'blockquote', offset: cursor.quoteFrom, length });
  cursor.quoteFrom = undefined;
}

function take(cursor: Cursor, char: string, sourceUnits: number): void {
  cursor.text += char;
  cursor.at += sourceUnits;
}

function isEscapable(code: number): boolean {
  return code >= 1 && code <= 126;
}

function byteOffset(source: string, at: number): number {
  return Buffer.byteLength(source.slice(0, at));
}

function unparsable(reason: string) {
  return badRequest(`can't parse entities: ${reason}`);
}

function unreserved(char: string) {
  return unparsable(`Character '${char}' is reserved and must be escaped with the preceding '\\'`);
}
