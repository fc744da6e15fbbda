// Phrasing content (text, emphasis, code, links, images, footnote marks) onto a sheet.
// Must never write a line break that the source does not have.

import type { Definition, FootnoteDefinition, Nodes, PhrasingContent } from 'mdast';
import { cleanText } from './clean.ts';
import { isSelfLabelled, linkUrl, shownTarget } from './links.ts';
import type { Sheet } from './sheet.ts';
import { marked, newSheet, write } from './sheet.ts';

export interface Page {
  source: string;
  sheet: Sheet;
  definitions: Map<string, Definition>;
  footnotes: Map<string, FootnoteDefinition>;
}

export function writeInline(page: Page, nodes: readonly PhrasingContent[]): void {
  for (const node of nodes) writeNode(page, node);
}

/** Writes on a separate sheet, from which a table learns the width of a cell. */
export function inlineSheet(page: Page, nodes: readonly PhrasingContent[]): Sheet {
  const sheet = { ...newSheet(), quoted: page.sheet.quoted };
  writeInline({ ...page, sheet }, nodes);
  return sheet;
}

function writeCode(sheet: Sheet, code: string): void {
  const text = withoutTabs(cleanText(code));
  // One newline mark inside inline code is a soft break of the source.
  if (sheet.quoted) write(sheet, `\`${text.replaceAll('\n', ' ')}\``);
  else marked(sheet, { type: 'code' }, () => write(sheet, text.replaceAll('\n', ' ')));
}

/** The server would make one space of a tab. */
export function withoutTabs(text: string): string {
  return text.replaceAll('\t', '    ');
}

function writeText(sheet: Sheet, text: string): void {
  write(sheet, cleanText(text).replaceAll('\t', ' '));
}

function writeNode(page: Page, node: PhrasingContent): void {
  const { sheet } = page;
  switch (node.type) {
    case 'text':
      writeText(sheet, node.value);
      return;
    case 'html':
      writeText(sheet, /^<br\s*\/?>$/i.test(node.value) ? '\n' : node.value);
      return;
    case 'inlineCode':
      writeCode(sheet, node.value);
      return;
    case 'break':
      write(sheet, '\n');
      return;
    case 'strong':
    case 'emphasis': {
      const literal = literalMarker(page.source, node);
      if (literal === null) {
        const type = node.type === 'strong' ? 'bold' : 'italic';
        marked(sheet, { type }, () => writeInline(page, node.children));
        return;
      }
      write(sheet, literal);
      writeInline(page, node.children);
      write(sheet, literal);
      return;
    }
    case 'delete':
      marked(sheet, { type: 'strikethrough' }, () => writeInline(page, node.children));
      return;
    case 'link':
      writeLink(page, node.url, () => writeInline(page, node.children));
      return;
    case 'linkReference':
      writeLink(page, targetOf(page, node.identifier), () => writeInline(page, node.children));
      return;
    case 'image':
      writeLink(page, node.url, () => writeText(sheet, imageLabel(node.alt, node.url)));
      return;
    case 'imageReference': {
      const url = targetOf(page, node.identifier);
      writeLink(page, url, () => writeText(sheet, imageLabel(node.alt, url)));
      return;
    }
    case 'footnoteReference':
      writeText(sheet, `[${node.label ?? node.identifier}]`);
      return;
    default:
      // A content type of another extension: keep the source.
      writeText(sheet, sourceOf(page.source, node));
      return;
  }
}

function writeLink(page: Page, target: string, label: () => void): void {
  const { sheet } = page;
  const start = sheet.text.length;
  const url = linkUrl(target);
  label();
  const shown = sheet.text.slice(start);
  if (isSelfLabelled(target, shown)) return;
  if (url !== null && shown.trim() !== '') {
    sheet.marks.push({ type: 'text_link', url, start, end: sheet.text.length });
    return;
  }
  const rest = shownTarget(cleanText(target), shown);
  if (rest === null) return;
  if (shown.trim() === '') {
    writeCode(sheet, rest);
    return;
  }
  write(sheet, ' (');
  writeCode(sheet, rest);
  write(sheet, ')');
}

function targetOf(page: Page, identifier: string): string {
  return page.definitions.get(identifier)?.url ?? '';
}

function imageLabel(alt: string | null | undefined, url: string): string {
  if (alt !== null && alt !== undefined && alt.trim() !== '') return alt;
  const name = url.split(/[?#]/, 1)[0]?.split('/').pop() ?? '';
  return name === '' ? 'image' : name;
}

/**
 * Coding agents write names and globs without escaping them. `__init__` is a name, not a strong "init", and a star right
 * after a letter, digit or slash (`src/*.ts`, `2*3*4`) is a star. Null = the author means emphasis.
 */
function literalMarker(source: string, node: Nodes & { type: 'strong' | 'emphasis' }): string | null {
  const start = node.position?.start.offset;
  if (start === undefined) return null;
  const written = sourceOf(source, node);
  if (node.type === 'strong') return /^__[A-Za-z0-9_]+__$/.test(written) ? '__' : null;
  return written.startsWith('*') && /[A-Za-z0-9/]/.test(source.charAt(start - 1)) ? '*' : null;
}

function sourceOf(source: string, node: Nodes): string {
  const { start, end } = node.position ?? {};
  return source.slice(start?.offset ?? 0, end?.offset ?? 0);
}
