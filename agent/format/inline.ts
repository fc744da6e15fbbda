// Phrasing content (text, emphasis, code, links, images, footnote marks) onto a sheet.
// Must never write a line break that the source does not have.

import type { Definition, Emphasis, FootnoteDefinition, Nodes, PhrasingContent, Strong } from 'mdast';
import { cleanText } from './clean.ts';
import { linkUrl, marked, newSheet, type Sheet, write } from './sheet.ts';

export interface Page {
  source: string;
  sheet: Sheet;
  definitions: Map<string, Definition>;
  footnotes: Map<string, FootnoteDefinition>;
}

export function writeInline(page: Page, nodes: readonly PhrasingContent[]): void {
  for (const node of nodes) {
    const writer = writers[node.type] as ((page: Page, node: PhrasingContent) => void) | undefined;
    // A content type of another extension: keep the source.
    if (writer) writer(page, node);
    else writeText(page.sheet, sourceOf(page, node));
  }
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

type Writers = { [T in PhrasingContent['type']]?: (page: Page, node: Extract<PhrasingContent, { type: T }>) => void };

const writers: Writers = {
  text: ({ sheet }, { value }) => writeText(sheet, value),
  html: ({ sheet }, { value }) => writeText(sheet, /^<br\s*\/?>$/i.test(value) ? '\n' : value),
  inlineCode: ({ sheet }, { value }) => writeCode(sheet, value),
  break: ({ sheet }) => write(sheet, '\n'),
  strong: (page, node) => writeEmphasis(page, node, 'bold'),
  emphasis: (page, node) => writeEmphasis(page, node, 'italic'),
  delete: (page, { children }) => marked(page.sheet, { type: 'strikethrough' }, () => writeInline(page, children)),
  link: (page, { url, children }) => writeLink(page, url, () => writeInline(page, children)),
  linkReference: (page, node) => writeLink(page, targetOf(page, node), () => writeInline(page, node.children)),
  image: (page, { url, alt }) => writeImage(page, url, alt),
  imageReference: (page, node) => writeImage(page, targetOf(page, node), node.alt),
  footnoteReference: ({ sheet }, { label, identifier }) => writeText(sheet, `[${label ?? identifier}]`),
};

function writeEmphasis(page: Page, node: Strong | Emphasis, type: 'bold' | 'italic'): void {
  const { sheet } = page;
  const literal = literalMarker(page, node);
  if (literal === null) {
    marked(sheet, { type }, () => writeInline(page, node.children));
    return;
  }
  write(sheet, literal);
  writeInline(page, node.children);
  write(sheet, literal);
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

/** The text for a target that cannot be a link; null when the label already shows the target or the target is empty. */
export function shownTarget(target: string, label: string): string | null {
  const bare = target.replace(/^(?:mailto|tel):/i, '');
  if (bare === '' || bare.startsWith('#') || bare === label.trim() || target === label.trim()) return null;
  return bare;
}

/** True when the chat client makes the link by itself. */
export function isSelfLabelled(target: string, label: string): boolean {
  return target === label || target === `http://${label}` || target === `mailto:${label}`;
}

function targetOf({ definitions }: Page, { identifier }: { identifier: string }): string {
  return definitions.get(identifier)?.url ?? '';
}

/** A link whose label is the description of the image, else the name of its file. */
function writeImage(page: Page, url: string, alt: string | null | undefined): void {
  const file = url.split(/[?#]/, 1)[0]?.split('/').pop();
  writeLink(page, url, () => writeText(page.sheet, alt?.trim() ? alt : file || 'image'));
}

/**
 * Coding agents write names and globs without escaping them. `__init__` is a name, not a strong "init", and a star right
 * after a letter, digit or slash (`src/*.ts`, `2*3*4`) is a star. Null = the author means emphasis.
 */
function literalMarker(page: Page, node: Strong | Emphasis): string | null {
  const written = sourceOf(page, node);
  if (node.type === 'strong') return /^__[A-Za-z0-9_]+__$/.test(written) ? '__' : null;
  const before = page.source.charAt((node.position?.start.offset ?? 0) - 1);
  return written.startsWith('*') && /[A-Za-z0-9/]/.test(before) ? '*' : null;
}

export function sourceOf({ source }: Page, { position }: Nodes): string {
  return source.slice(position?.start.offset ?? 0, position?.end.offset ?? 0);
}
