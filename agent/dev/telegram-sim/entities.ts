// Checks text and entities as the Bot API does before it accepts a message. Where Telegram silently drops or cuts
// (same-type nesting, anything within code, more than 100 entities), this refuses: in a test a silent loss would go unnoticed.

import type { MessageEntity } from 'grammy/types';
import { badRequest } from './refusal.ts';

export interface FormattedText {
  text: string;
  entities: MessageEntity[];
}

export const textLimits = { textUnits: 4096, captionUnits: 1024, rawBytes: 32_768, entities: 100 } as const;

const plainTypes = [
  'mention',
  'hashtag',
  'cashtag',
  'bot_command',
  'url',
  'email',
  'phone_number',
  'bold',
  'italic',
  'underline',
  'strikethrough',
  'spoiler',
  'blockquote',
  'expandable_blockquote',
  'code',
  'pre',
  'text_link',
  'text_mention',
  'custom_emoji',
  'date_time',
] as const;

const codeTypes = new Set(['code', 'pre']);
const quoteTypes = new Set(['blockquote', 'expandable_blockquote']);

/** The entities of a request. @throws {Refusal} 400 with the words of the Bot API. */
export function readEntities(raw: unknown[], text: string): MessageEntity[] {
  if (raw.length > textLimits.entities) throw badRequest(`too many entities: ${raw.length}`);
  const entities = raw.map((value) => readEntity(value, text));
  for (const [index, entity] of entities.entries()) {
    for (const other of entities.slice(index + 1)) checkPair(entity, other);
  }
  return entities;
}

function readEntity(value: unknown, text: string): MessageEntity {
  if (typeof value !== 'object' || value === null) throw badRequest("can't parse MessageEntity: expected an Object");
  const { type, offset, length, url, language } = value as Record<string, unknown>;
  if (typeof type !== 'string' || !(plainTypes as readonly string[]).includes(type)) {
    throw badRequest("can't parse MessageEntity: unsupported type specified");
  }
  if (!Number.isInteger(offset) || !Number.isInteger(length)) {
    throw badRequest("can't parse MessageEntity: offset and length must be numbers");
  }
  const start = offset as number;
  const end = start + (length as number);
  if (start < 0) throw badRequest(`entity has negative UTF-16 offset ${start}`);
  if (end <= start) throw badRequest(`entity beginning at UTF-16 offset ${start} has a length of ${length}`);
  if (end > text.length) {
    throw badRequest(
      `entity beginning at UTF-16 offset ${start} ends after the end of the text at UTF-16 offset ${end}`,
    );
  }
  if (splitsPair(text, start))
    throw badRequest(`entity begins in a middle of a UTF-16 symbol at UTF-16 offset ${start}`);
  if (splitsPair(text, end)) {
    throw badRequest(
      `entity beginning at UTF-16 offset ${start} ends in a middle of a UTF-16 symbol at UTF-16 offset ${end}`,
    );
  }
  const base = { offset: start, length: length as number };
  if (type === 'text_link') return { ...base, type, url: checkUrl(url) };
  if (type === 'pre') return typeof language === 'string' && language ? { ...base, type, language } : { ...base, type };
  // The phone shows nothing of the remaining types.
  return { ...base, type } as MessageEntity;
}

function splitsPair(text: string, offset: number): boolean {
  const before = text.charCodeAt(offset - 1);
  const after = text.charCodeAt(offset);
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}

/** A link needs http(s) and a dot in its host. Returns it as given. @throws {Refusal} 400 for the whole message. */
export function checkUrl(url: unknown): string {
  if (typeof url !== 'string' || url === '') throw badRequest("entity URL '' is invalid: URL must be non-empty");
  const refusal = badRequest(`entity URL '${url}' is invalid: Wrong HTTP URL`);
  // `example.org/path` is accepted and means http.
  const absolute = /^[a-z][a-z0-9+.-]*:/i.test(url) && !/^[^/]*:\d+(\/|$)/.test(url) ? url : `http://${url}`;
  if (!URL.canParse(absolute) || /\s/.test(url)) throw refusal;
  const { protocol, hostname } = new URL(absolute);
  if (!['http:', 'https:', 'tg:'].includes(protocol)) throw refusal;
  if (protocol !== 'tg:' && !hostname.includes('.') && !hostname.startsWith('[')) throw refusal;
  return url;
}

function checkPair(first: MessageEntity, second: MessageEntity): void {
  const [a, b] = first.offset <= second.offset ? [first, second] : [second, first];
  if (b.offset >= a.offset + a.length) return;
  const where = `at UTF-16 offset ${b.offset}`;
  if (a.type === b.type) throw badRequest(`can't parse entities: nested ${a.type} ${where}`);
  if (codeTypes.has(a.type) || codeTypes.has(b.type)) {
    // A quote may hold code; nothing else may share its characters.
    const quoted = quoteTypes.has(a.type) && b.offset + b.length <= a.offset + a.length;
    const quotedAtStart = quoteTypes.has(b.type) && a.offset === b.offset && a.length <= b.length;
    if (!quoted && !quotedAtStart) throw badRequest(`can't parse entities: ${a.type} combined with ${b.type} ${where}`);
  }
  if (quoteTypes.has(a.type) && quoteTypes.has(b.type))
    throw badRequest(`can't parse entities: nested blockquote ${where}`);
}

/** The server trims both ends. Entities move with the text, and empty ones are removed. */
export function trimmed({ text, entities }: FormattedText): FormattedText {
  const result = text.trim();
  const start = text.length - text.trimStart().length;
  const moved = entities.flatMap((entity) => {
    const from = Math.max(0, entity.offset - start);
    const to = Math.min(result.length, entity.offset + entity.length - start);
    return to > from ? [{ ...entity, offset: from, length: to - from }] : [];
  });
  return { text: result, entities: moved };
}

/** The entities that the server adds: commands and addresses outside other entities. */
export function withDetected({ text, entities }: FormattedText): FormattedText {
  const found: MessageEntity[] = [];
  const free = (offset: number, length: number) =>
    !entities.some((entity) => entity.offset < offset + length && offset < entity.offset + entity.length);
  for (const match of text.matchAll(/(?<=^|\s)\/[a-zA-Z0-9_]{1,64}(?:@\w{3,32})?(?=$|\s)/g)) {
    if (free(match.index, match[0].length)) {
      found.push({ type: 'bot_command', offset: match.index, length: match[0].length });
    }
  }
  for (const match of text.matchAll(/https?:\/\/[\w-]+\.[^\s<>"]*[^\s<>".,;:!?)\]}]/g)) {
    if (free(match.index, match[0].length)) found.push({ type: 'url', offset: match.index, length: match[0].length });
  }
  return { text, entities: [...entities, ...found].sort((a, b) => a.offset - b.offset || b.length - a.length) };
}
