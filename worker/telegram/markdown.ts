// What formatting of the phone says beyond its characters, the address of a link and code, as plain Markdown. Total and linear:
// entities that are malformed, out of the text or overlap are left out.

import * as v from 'valibot';

const unit = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const entitySchema = v.looseObject({
  type: v.picklist(['text_link', 'pre', 'code']),
  offset: unit,
  length: v.pipe(unit, v.minValue(1)),
  url: v.optional(v.string()),
  language: v.optional(v.string()),
});

/** Telegram itself allows a hundred. */
const maxEntities = 100;
const maxUrlUnits = 2_048;

/** Offsets are UTF-16 units of `text`, as Telegram counts them. */
export function markdownOf(text: string, entities: unknown): string {
  if (!Array.isArray(entities)) return text;
  const known = entities.slice(0, maxEntities).flatMap((each: unknown) => {
    const parsed = v.safeParse(entitySchema, each);
    return parsed.success ? [parsed.output] : [];
  });
  known.sort((a, b) => a.offset - b.offset);
  let result = '';
  let from = 0;
  for (const { type, offset, length, url, language } of known) {
    const end = offset + length;
    if (offset < from || end > text.length || splitsPair(text, offset) || splitsPair(text, end)) continue;
    const words = text.slice(offset, end);
    const shown =
      type === 'text_link'
        ? link(words, url ?? '')
        : type === 'pre'
          ? fenced(words, language, text.slice(Math.max(0, offset - 1), offset), text.slice(end, end + 1))
          : inline(words);
    result += text.slice(from, offset) + shown;
    from = end;
  }
  return result + text.slice(from);
}

function splitsPair(text: string, at: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(at - 1, at + 1)) && at > 0;
}

function link(words: string, url: string): string {
  const address = url.slice(0, maxUrlUnits).replace(/[\s()<>\p{Cc}]/gu, (char) => encodeURIComponent(char));
  const isWhole = url.length <= maxUrlUnits && /^[a-z][a-z0-9+.-]*:/i.test(url);
  // Parentheses are left as they are by `encodeURIComponent`.
  return isWhole ? `[${words}](${address.replaceAll('(', '%28').replaceAll(')', '%29')})` : words;
}

function fenced(words: string, language: string | undefined, before: string, after: string): string {
  const fence = '`'.repeat(Math.max(3, longestRun(words) + 1));
  const name = /^[\w+#.-]{1,32}$/.test(language ?? '') ? language : '';
  const start = before === '' || before.endsWith('\n') ? '' : '\n';
  return `${start}${fence}${name}\n${words.replace(/\n$/, '')}\n${fence}${after === '' || after === '\n' ? '' : '\n'}`;
}

function inline(words: string): string {
  const mark = '`'.repeat(longestRun(words) + 1);
  const gap = words.startsWith('`') || words.endsWith('`') ? ' ' : '';
  return `${mark}${gap}${words}${gap}${mark}`;
}

function longestRun(words: string): number {
  return (words.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);
}
