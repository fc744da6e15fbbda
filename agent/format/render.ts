// A coding agent's Markdown as text with entities. The only module that loads the Markdown parser: import it lazily.
// Must never throw on any input and never use the chat server's own parse modes.

import type { Definition, FootnoteDefinition, Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { writeBlocks, writeFootnotes } from './blocks.ts';
import { cleanText, dropReminders } from './clean.ts';
import { type Page, withoutTabs } from './inline.ts';
import { boundedInline, isTooIntricate } from './parser-limits.ts';
import { newSheet, type Rendered, settle } from './sheet.ts';

/**
 * Any text to text and entities, both valid for the chat server at once or after `splitText`; '' when nothing is visible.
 * Markdown that nests too deep for the parser goes out as plain text.
 */
export function renderMarkdown(markdown: string): Rendered {
  const source = dropReminders(cleanText(markdown));
  const asPlainText = () => settle({ ...newSheet(), text: withoutTabs(source) });
  if (isTooIntricate(source)) return asPlainText();
  try {
    return renderTree(source);
  } catch (error) {
    if (error instanceof RangeError) return asPlainText();
    throw error;
  }
}

function renderTree(source: string): Rendered {
  const tree = fromMarkdown(source, {
    // One tilde means "about" in an agent's prose.
    extensions: [gfm({ singleTilde: false }), boundedInline()],
    mdastExtensions: gfmFromMarkdown().map(({ transforms: _, ...extension }) => extension),
  });
  const page: Page = { source, sheet: newSheet(), definitions: new Map(), footnotes: new Map() };
  collect(tree, page.definitions, page.footnotes);
  writeBlocks(page, tree.children);
  writeFootnotes(page);
  return settle(page.sheet);
}

/** The first definition of an identifier wins. */
function collect(node: Nodes, definitions: Map<string, Definition>, footnotes: Map<string, FootnoteDefinition>): void {
  if (node.type === 'definition' && !definitions.has(node.identifier)) definitions.set(node.identifier, node);
  if (node.type === 'footnoteDefinition' && !footnotes.has(node.identifier)) footnotes.set(node.identifier, node);
  if ('children' in node) for (const child of node.children) collect(child, definitions, footnotes);
}
