// MarkdownV2, a markup of chat bots, as text with entities, for writers who chose it. As strict as the chat server: a text that breaks
// the rules of the markup is refused. Loads no package.

import { linkUrl, type Mark, newSheet, type Rendered, type Sheet, settle } from './sheet.ts';

/**
 * One piece of the source: an escaped character, the beginning of a line in a quote, code as a whole, a mark (`__` is never two `_`),
 * the end of a link, or text. A backslash before anything but ASCII is text.
 */
const piece =
  /\\(?<escaped>[\t\n -~])|(?<![^\n])(?<quote>(?:\*\*)?>)|(?<fence>```|`(?!``))(?<code>(?:\\[\t\n -~]|[^`\\]|\\(?![\t\n -~]))*)\k<fence>|(?<mark>__|\|\||[*_~[])|\]\((?<target>(?:[^)\\]|\\.)*)\)|(?<plain>[^_*[\]()~`>#+=|{}.!\\\n-]+|\n|\\)/sy;

const types: Record<string, Mark['type']> = {
  __: 'underline',
  '||': 'spoiler',
  '*': 'bold',
  _: 'italic',
  '~': 'strikethrough',
  '[': 'text_link',
};

interface Reader {
  readonly sheet: Sheet;
  readonly open: { mark: string; start: number }[];
  quote: { type: Mark['type']; start: number } | undefined;
}

/** Undefined = the text breaks the rules: an unescaped reserved character, or a mark that never ends. */
export function parseMarkdownV2(source: string): Rendered | undefined {
  const reader: Reader = { sheet: newSheet(), open: [], quote: undefined };
  for (let at = 0; at < source.length; at = piece.lastIndex) {
    piece.lastIndex = at;
    const { escaped, ...found } = piece.exec(source)?.groups ?? {};
    if (escaped !== undefined) {
      reader.sheet.text += escaped;
      continue;
    }
    const isLineStart = at === 0 || source[at - 1] === '\n';
    if (isLineStart && found.quote !== '>') endQuote(reader);
    const after = source[at + 2];
    if (!read(reader, found, after === undefined || after === '\n')) return undefined;
  }
  endQuote(reader);
  return reader.open.length > 0 ? undefined : settle(reader.sheet);
}

/** False = the text breaks the rules. `isLast`: a mark of two characters would end the line. */
function read(reader: Reader, found: Record<string, string | undefined>, isLast: boolean): boolean {
  const { quote, fence, code = '', mark, target, plain } = found;
  const { sheet, open } = reader;
  const start = sheet.text.length;
  if (plain !== undefined) sheet.text += plain;
  else if (quote !== undefined) reader.quote ??= { type: 'blockquote', start };
  else if (fence !== undefined) writeCode(sheet, fence, code);
  else if (target !== undefined) {
    const link = open.pop();
    if (link?.mark !== '[') return false;
    const url = linkUrl(target.replace(/\\(.)/gs, '$1'));
    if (url !== null) sheet.marks.push({ type: 'text_link', url, start: link.start, end: start });
  } else if (mark === undefined) return false;
  else if (mark === '||' && reader.quote && isLast && !isOpen(reader, mark))
    reader.quote.type = 'expandable_blockquote';
  else if (mark !== '[' && open.at(-1)?.mark === mark) {
    sheet.marks.push({ type: types[mark] as Mark['type'], start: open.pop()?.start ?? 0, end: start });
  } else if (isOpen(reader, mark)) return false;
  else open.push({ mark, start });
  return true;
}

function isOpen({ open }: Reader, mark: string): boolean {
  return open.some((each) => each.mark === mark);
}

function writeCode(sheet: Sheet, fence: string, code: string): void {
  const start = sheet.text.length;
  const [line = '', language = ''] = fence === '`' ? [] : (/^([^\s`]*)\n/.exec(code.slice(0, 80)) ?? []);
  sheet.text += code.slice(line.length).replace(/\\([\t\n -~])/g, '$1');
  const type = fence === '`' ? 'code' : 'pre';
  sheet.marks.push({ type, start, end: sheet.text.length, ...(language ? { language } : {}) });
}

/** `**>` begins another quote right after the first. */
function endQuote(reader: Reader): void {
  if (reader.quote) reader.sheet.marks.push({ ...reader.quote, end: reader.sheet.text.length });
  reader.quote = undefined;
}
