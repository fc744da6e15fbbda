// Flow content (paragraphs, headings, lists, quotes, code, rules) onto a sheet.
// Must never indent code: people copy it.

import type { BlockContent, Code, DefinitionContent, List, ListItem, RootContent } from 'mdast';
import { cleanText } from './clean.ts';
import type { Page } from './inline.ts';
import { withoutTabs, writeInline } from './inline.ts';
import { breakLine, marked, write, writePre } from './sheet.ts';
import { writeTable } from './tables.ts';

const indentStep = '  ';

type Block = RootContent | BlockContent | DefinitionContent;

/** Blocks with an empty line between them. */
export function writeBlocks(page: Page, blocks: readonly Block[]): void {
  let first = true;
  for (const block of blocks) {
    if (isInvisible(block)) continue;
    if (!first) breakLine(page.sheet, 2);
    first = false;
    writeBlock(page, block);
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

function isInvisible(block: Block): boolean {
  return block.type === 'definition' || block.type === 'footnoteDefinition' || block.type === 'yaml';
}

function writeBlock(page: Page, block: Block): void {
  const { sheet } = page;
  switch (block.type) {
    case 'paragraph':
      writeInline(page, block.children);
      return;
    case 'heading':
      marked(sheet, { type: 'bold' }, () => writeInline(page, block.children));
      return;
    case 'thematicBreak':
      write(sheet, '———');
      return;
    case 'html':
      write(sheet, withoutTabs(cleanText(block.value)));
      return;
    case 'code':
      writeFence(page, block);
      return;
    case 'list':
      writeList(page, block);
      return;
    case 'table':
      writeTable(page, block);
      return;
    case 'blockquote': {
      const outer = sheet.quoted;
      sheet.quoted = true;
      marked(sheet, { type: 'blockquote' }, () => writeBlocks(page, block.children));
      sheet.quoted = outer;
      return;
    }
    default:
      return;
  }
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
    writeItem(page, item);
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
  return Number(/^\d{1,9}/.exec(page.source.slice(offset, offset + 10))?.[0] ?? 0);
}

function writeItem(page: Page, item: ListItem): void {
  let first = true;
  for (const block of item.children) {
    if (isInvisible(block)) continue;
    const isCompact = block.type === 'list' || block.type === 'code';
    // A list or a fence right after the marker starts on its own line.
    if (!first || isCompact) breakLine(page.sheet, isCompact ? 1 : 2);
    first = false;
    writeBlock(page, block);
  }
}
