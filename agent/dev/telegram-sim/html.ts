// Parses parse_mode HTML by the rules of the server: an unknown tag or a wrong nesting is refused, never shown.

import type { MessageEntity } from 'grammy/types';
import { checkUrl, type FormattedText } from './entities.ts';
import { badRequest } from './refusal.ts';

const typeOfTag: Record<string, MessageEntity['type']> = {
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  u: 'underline',
  ins: 'underline',
  s: 'strikethrough',
  strike: 'strikethrough',
  del: 'strikethrough',
  'tg-spoiler': 'spoiler',
  span: 'spoiler',
  code: 'code',
  pre: 'pre',
  a: 'text_link',
  blockquote: 'blockquote',
};

const namedCharacters: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"' };

interface OpenTag {
  name: string;
  attributes: Map<string, string>;
  offset: number;
  byteOffset: number;
}

/** @throws {Refusal} 400 "can't parse entities: …" */
export function parseHtml(source: string): FormattedText {
  const entities: MessageEntity[] = [];
  const open: OpenTag[] = [];
  let text = '';
  let at = 0;
  while (at < source.length) {
    const byteOffset = () => Buffer.byteLength(source.slice(0, at));
    if (source.charAt(at) !== '<') {
      const end = source.indexOf('<', at);
      const stop = end === -1 ? source.length : end;
      text += decodeCharacters(source.slice(at, stop));
      at = stop;
      continue;
    }
    const tag = /^<(\/?)([a-zA-Z][a-zA-Z0-9-]*)?((?:\s+[a-zA-Z-]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+))?)*)\s*>/.exec(
      source.slice(at),
    );
    if (!tag) throw unparsable(`Unclosed start tag at byte offset ${byteOffset()}`);
    const name = (tag[2] ?? open.at(-1)?.name ?? '').toLowerCase();
    if (tag[1]) {
      const top = open.pop();
      if (!top) throw unparsable(`Unexpected end tag at byte offset ${byteOffset()}`);
      if (top.name !== name) {
        throw unparsable(
          `Unmatched end tag at byte offset ${byteOffset()}, expected "</${top.name}>", found "</${name}>"`,
        );
      }
      const entity = entityOf(top, text, open);
      if (entity) entities.push(entity);
    } else {
      const attributes = readAttributes(tag[3] ?? '');
      if (!Object.hasOwn(typeOfTag, name) || (name === 'span' && attributes.get('class') !== 'tg-spoiler')) {
        throw unparsable(`Unsupported start tag "${name}" at byte offset ${byteOffset()}`);
      }
      open.push({ name, attributes, offset: text.length, byteOffset: byteOffset() });
    }
    at += tag[0].length;
  }
  const unclosed = open.at(-1);
  if (unclosed) {
    throw unparsable(
      `Can't find end tag corresponding to start tag "${unclosed.name}" at byte offset ${unclosed.byteOffset}`,
    );
  }
  return { text, entities: entities.sort((a, b) => a.offset - b.offset || b.length - a.length) };
}

function entityOf(tag: OpenTag, text: string, outer: OpenTag[]): MessageEntity | undefined {
  const base = { offset: tag.offset, length: text.length - tag.offset };
  const type = typeOfTag[tag.name] as MessageEntity['type'];
  if (base.length === 0) return undefined;
  if (type === 'text_link') {
    const url = tag.attributes.get('href') ?? text.slice(tag.offset);
    return { ...base, type, url: checkUrl(url) };
  }
  // `<pre><code class="language-x">` is one entity: the code inside a pre adds only its language.
  if (type === 'code' && outer.at(-1)?.name === 'pre') {
    const language = /^language-(.+)$/.exec(tag.attributes.get('class') ?? '')?.[1];
    if (language) outer.at(-1)?.attributes.set('language', language);
    return undefined;
  }
  if (type === 'pre') {
    const language = tag.attributes.get('language');
    return language ? { ...base, type, language } : { ...base, type };
  }
  if (type === 'blockquote' && tag.attributes.has('expandable')) return { ...base, type: 'expandable_blockquote' };
  return { ...base, type } as MessageEntity;
}

function readAttributes(source: string): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const match of source.matchAll(/([a-zA-Z-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+)))?/g)) {
    attributes.set((match[1] ?? '').toLowerCase(), decodeCharacters(match[2] ?? match[3] ?? match[4] ?? ''));
  }
  return attributes;
}

function decodeCharacters(source: string): string {
  return source.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(lt|gt|amp|quot));?/gi, (whole, hex, decimal, name) => {
    if (name) return namedCharacters[name.toLowerCase()] ?? whole;
    const code = hex ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

function unparsable(reason: string) {
  return badRequest(`can't parse entities: ${reason}`);
}
