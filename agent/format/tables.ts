// Tables: padded columns in a fixed-width block while they fit a screen and have no links, which cannot be tapped there;
// else one "Header: value" line per cell. Must never drop a cell that has text.

import type { AlignType, Table, TableRow } from 'mdast';
import type { Page } from './inline.ts';
import { inlineSheet, withoutTabs, writeInline } from './inline.ts';
import { breakLine, marked, write, writePre } from './sheet.ts';

/** A wider table is not readable as columns on a phone. */
const maxColumns = 60;

const gap = ' | ';

/** Includes missing cells: a wide head over many short rows makes more cells than the text has characters. */
const maxCells = 20_000;

export function writeTable(page: Page, table: Table): void {
  const count = table.children.reduce((most, row) => Math.max(most, row.children.length), 0);
  if (count * table.children.length > maxCells) {
    writeSource(page, table);
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

function writeSource(page: Page, { position }: Table): void {
  write(page.sheet, withoutTabs(page.source.slice(position?.start.offset, position?.end.offset)));
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

function writeRecords(page: Page, table: Table, texts: string[][]): void {
  const [headers = [], ...cells] = texts;
  const isUsed = (column: number) => cells.some((row) => (row[column] ?? '') !== '');
  // A column without any value would vanish with its header, so the first row shows the header.
  let shownWhenEmpty = headers.map((_, column) => !isUsed(column));
  table.children.slice(1).forEach((row, i) => {
    const isFirst = i === 0;
    if (!isFirst && (cells[i] ?? []).every((text) => text === '')) return;
    if (!isFirst) breakLine(page.sheet, 2);
    writeRecord(page, row, headers, shownWhenEmpty);
    shownWhenEmpty = [];
  });
}

function writeRecord(page: Page, row: TableRow, headers: string[], shownWhenEmpty: boolean[]): void {
  let first = true;
  for (let i = 0; i < Math.max(row.children.length, headers.length); i++) {
    const content = row.children[i]?.children ?? [];
    const isEmpty = inlineSheet(page, content).text.trim() === '';
    const header = headers[i] ?? '';
    if (isEmpty && (header === '' || shownWhenEmpty[i] !== true)) continue;
    if (!first) breakLine(page.sheet, 1);
    first = false;
    if (header !== '') {
      marked(page.sheet, { type: 'bold' }, () => write(page.sheet, `${header}:`));
      write(page.sheet, ' ');
    }
    if (isEmpty) write(page.sheet, '–');
    else writeInline(page, content);
  }
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
