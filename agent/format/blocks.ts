// Flow content (paragraphs, headings, lists, quotes, code, rules, tables) onto a sheet.
// Must never indent code, because people copy it, and never drop a cell of a table that has text.

import type { AlignType, Blockquote, Code, List, ListItem, RootContent, Table } from 'mdast';
import { cleanText } from './clean.ts';
import { inlineSheet, type Page, sourceOf, withoutTabs, writeInline } from './inline.ts';
import { breakLine, marked, write, writePre } from './sheet.ts';

const indentStep = '  ';

/** Blocks with an empty line between them; in a list item, a list or code begins on the next line. */
export function writeBlocks(page: Page, blocks: readonly RootContent[], isItem = false): void {
  let isFirst = true;
  for (const block of blocks) {
    const writer = writers[block.type] as ((page: Page, block: RootContent) => void) | undefined;
    // A definition, for example, shows nothing.
    if (!writer) continue;
    const isCompact = isItem && (block.type === 'list' || block.type === 'code');
    if (!isFirst || isCompact) breakLine(page.sheet, isCompact ? 1 : 2);
    isFirst = false;
    writer(page, block);
  }
}

/** The footnotes, each on its own line, below the text that refers to them. */
export function writeFootnotes(page: Page): void {
  for (const [, footnote] of page.footnotes) {
    breakLine(page.sheet, 2);
    write(page.sheet, `[${footnote.label ?? footnote.identifier}] `);
    writeBlocks(page, footnote.children);
  }
}

type Writers = { [T in RootContent['type']]?: (page: Page, block: Extract<RootContent, { type: T }>) => void };

const writers: Writers = {
  paragraph: (page, { children }) => writeInline(page, children),
  heading: (page, { children }) => marked(page.sheet, { type: 'bold' }, () => writeInline(page, children)),
  thematicBreak: ({ sheet }) => write(sheet, '———'),
  html: ({ sheet }, { value }) => write(sheet, withoutTabs(cleanText(value))),
  code: writeFence,
  list: writeList,
  table: writeTable,
  blockquote: writeQuote,
};

function writeQuote(page: Page, { children }: Blockquote): void {
  const { sheet } = page;
  const outer = sheet.quoted;
  sheet.quoted = true;
  marked(sheet, { type: 'blockquote' }, () => writeBlocks(page, children));
  sheet.quoted = outer;
}

function writeFence(page: Page, code: Code): void {
  const { sheet } = page;
  let text = withoutTabs(cleanText(code.value));
  // The server trims the start of a message, so only the first line would lose its indentation.
  if (sheet.text === '') text = dedent(text);
  const language = cleanText(code.lang ?? '').replace(/[^A-Za-z0-9+#._-]/g, '');
  writePre(sheet, text, language.slice(0, 64));
}

function dedent(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const common = Math.min(...lines.map((line) => line.length - line.trimStart().length));
  return common > 0 && Number.isFinite(common) ? text.replace(new RegExp(`^ {1,${common}}`, 'gm'), '') : text;
}

function writeList(page: Page, list: List): void {
  const { sheet } = page;
  let number = list.start ?? 1;
  list.children.forEach((item, i) => {
    if (i > 0) breakLine(sheet, list.children[i - 1]?.spread === true ? 2 : 1);
    if (list.ordered === true) number = Math.max(number, writtenNumber(page, item));
    write(sheet, markerOf(list, item, number));
    number++;
    const outer = sheet.indent;
    sheet.indent = outer + indentStep;
    writeBlocks(page, item.children, true);
    sheet.indent = outer;
  });
}

function markerOf(list: List, item: ListItem, number: number): string {
  const box = item.checked === true ? '☑ ' : item.checked === false ? '☐ ' : '';
  if (list.ordered === true) return `${number}. ${box}`;
  return box === '' ? '• ' : box;
}

/** Markdown counts up from the first number, but an agent that writes 3, 4, 10 means these numbers. */
function writtenNumber(page: Page, item: ListItem): number {
  const offset = item.position?.start.offset ?? 0;
  return Number.parseInt(page.source.slice(offset, offset + 9), 10) || 0;
}

// Tables: padded columns in a fixed-width block while they fit a screen and have no links, which cannot be tapped there;
// else one "Header: value" line per cell.

/** A wider table is not readable as columns on a phone. */
const maxColumns = 60;

const gap = ' | ';

/** Includes missing cells: a wide head over many short rows makes more cells than the text has characters. */
const maxCells = 20_000;

function writeTable(page: Page, table: Table): void {
  const count = table.children.reduce((most, row) => Math.max(most, row.children.length), 0);
  if (count * table.children.length > maxCells) {
    write(page.sheet, withoutTabs(sourceOf(page, table)));
    return;
  }
  const sheets = table.children.map((row) => row.children.map((cell) => inlineSheet(page, cell.children)));
  const rows = sheets.map((row) => row.map((sheet) => withoutTabs(sheet.text).replace(/\s+/g, ' ').trim()));
  const hasLinks = sheets.flat().some((sheet) => sheet.marks.some((mark) => mark.type === 'text_link'));
  const widths = Array.from({ length: count }, (_, i) => Math.max(1, ...rows.map((row) => columnsOf(row[i] ?? ''))));
  const total = widths.reduce((sum, width) => sum + width, gap.length * (count - 1));
  if ((total <= maxColumns && !hasLinks) || rows.length < 2) writeColumns(page, rows, widths, table.align ?? []);
  else writeRecords(page, table, rows);
}

function writeColumns(page: Page, rows: string[][], widths: number[], align: AlignType[]): void {
  const lines = rows.map((row) =>
    widths
      .map((width, i) => pad(row[i] ?? '', width, align[i] ?? null))
      .join(gap)
      .trimEnd(),
  );
  lines.splice(1, 0, widths.map((width) => '-'.repeat(width)).join('-+-'));
  writePre(page.sheet, lines.join('\n'));
}

function writeRecords(page: Page, table: Table, [headers = [], ...rows]: string[][]): void {
  const { sheet } = page;
  rows.forEach((texts, i) => {
    const cells = table.children[i + 1]?.children ?? [];
    // A column without any value would vanish with its header, so the first row shows the header.
    const isShown = (column: number) =>
      texts[column] || (i === 0 && headers[column] && rows.every((row) => !row[column]));
    const columns = [...Array(Math.max(cells.length, headers.length)).keys()].filter(isShown);
    if (i > 0 && columns.length > 0) breakLine(sheet, 2);
    columns.forEach((column, place) => {
      if (place > 0) breakLine(sheet, 1);
      if (headers[column]) {
        marked(sheet, { type: 'bold' }, () => write(sheet, `${headers[column]}:`));
        write(sheet, ' ');
      }
      if (texts[column]) writeInline(page, cells[column]?.children ?? []);
      else write(sheet, '–');
    });
  });
}

function pad(text: string, width: number, align: AlignType): string {
  const missing = Math.max(0, width - columnsOf(text));
  const left = align === 'right' ? missing : align === 'center' ? missing >> 1 : 0;
  return ' '.repeat(left) + text + ' '.repeat(missing - left);
}

const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]/u;
const emoji = /\p{Emoji_Presentation}|\ufe0f/u;
const zero = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

/** Columns in a fixed-width font; offsets and limits count UTF-16 units instead. */
export function columnsOf(text: string): number {
  // Printable ASCII, the usual case, needs no segmenter.
  if (/^[ -~]*$/.test(text)) return text.length;
  let columns = 0;
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)) {
    if (emoji.test(segment) || wide.test(segment)) columns += 2;
    else if (!zero.test(segment)) columns += 1;
  }
  return columns;
}
