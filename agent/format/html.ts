// The HTML of chat bots as text with entities, for writers who chose it. As strict as the chat server: an unknown tag or a wrong
// nesting is refused. Loads no package.

import { linkUrl, type Mark, newSheet, type Rendered, settle } from './sheet.ts';

const types = new Map<string, Mark['type']>([
  ['b', 'bold'],
  ['strong', 'bold'],
  ['i', 'italic'],
  ['em', 'italic'],
  ['u', 'underline'],
  ['ins', 'underline'],
  ['s', 'strikethrough'],
  ['strike', 'strikethrough'],
  ['del', 'strikethrough'],
  ['tg-spoiler', 'spoiler'],
  ['span', 'spoiler'],
  ['code', 'code'],
  ['pre', 'pre'],
  ['a', 'text_link'],
  ['blockquote', 'blockquote'],
]);
const characters: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"' };
/** One piece of the source: a tag with its attributes, or the text up to the next tag. */
const piece = /<(\/?)([a-z][a-z0-9-]*)((?:\s+[a-z-]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>"']+))?)*)\s*>|[^<]+/iy;
const attribute = /([a-z-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+)))?/gi;

interface Open {
  name: string;
  attributes: Map<string, string>;
  start: number;
}

/** Undefined = the text breaks the rules: an unknown tag, a tag that never ends, or a tag that ends before an inner tag. */
export function parseHtml(source: string): Rendered | undefined {
  const sheet = newSheet();
  const open: Open[] = [];
  for (let at = 0; at < source.length; at = piece.lastIndex) {
    piece.lastIndex = at;
    const [text, slash, tag, rest = ''] = piece.exec(source) ?? [];
    const name = tag?.toLowerCase();
    if (text === undefined) return undefined;
    if (name === undefined) sheet.text += decode(text);
    else if (slash) {
      const top = open.pop();
      if (top?.name !== name) return undefined;
      sheet.marks.push(...marksOf(top, sheet.text, open.at(-1)));
    } else {
      const attributes = attributesOf(rest);
      if (!types.has(name) || (name === 'span' && attributes.get('class') !== 'tg-spoiler')) return undefined;
      open.push({ name, attributes, start: sheet.text.length });
    }
  }
  return open.length > 0 ? undefined : settle(sheet);
}

/** Empty for an unsafe link, and for code that only names the language of the `pre` around it. */
function marksOf({ name, attributes, start }: Open, text: string, outer: Open | undefined): Mark[] {
  const type = types.get(name) as Mark['type'];
  const range = { start, end: text.length };
  if (type === 'text_link') {
    const url = linkUrl(attributes.get('href') ?? text.slice(start));
    return url === null ? [] : [{ ...range, type, url }];
  }
  if (type === 'code' && outer?.name === 'pre') {
    const [, language] = /^language-(.+)$/.exec(attributes.get('class') ?? '') ?? [];
    if (language) outer.attributes.set('language', language);
    return [];
  }
  const language = type === 'pre' && attributes.get('language');
  if (language) return [{ ...range, type, language }];
  const isExpandable = type === 'blockquote' && attributes.has('expandable');
  return [{ ...range, type: isExpandable ? 'expandable_blockquote' : type }];
}

function attributesOf(source: string): Map<string, string> {
  return new Map(
    Array.from(source.matchAll(attribute), ([, name = '', ...values]) => [name.toLowerCase(), decode(values.join(''))]),
  );
}

function decode(source: string): string {
  return source.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(lt|gt|amp|quot));?/gi, (whole, hex, decimal, name) => {
    if (name) return characters[name.toLowerCase()] ?? whole;
    const code = hex ? Number.parseInt(hex, 16) : Number(decimal);
    const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : whole;
  });
}
