import { describe, expect, it } from 'vitest';
import { columnsOf } from '../../../agent/format/blocks.ts';
import { cleanText, dropReminders } from '../../../agent/format/clean.ts';
import { parseHtml } from '../../../agent/format/html.ts';
import { isSelfLabelled, shownTarget } from '../../../agent/format/inline.ts';
import { parseMarkdownV2 } from '../../../agent/format/markdown-v2.ts';
import {
  isTooIntricate,
  maxContainers,
  maxLazyLines,
  maxMarks,
  maxNesting,
  maxUnderlines,
} from '../../../agent/format/parser-limits.ts';
import { renderMarkdown } from '../../../agent/format/render.ts';
import { linkUrl } from '../../../agent/format/sheet.ts';
import { splitText } from '../../../agent/format/split.ts';
import { summarize } from '../../../agent/format/summary.ts';
import { growsTooFast } from '../../helpers/growth.ts';

const plain = (text: string) => ({ text, entities: [] });

const limits = { maxUnits: 4096 };

/** Every function that takes text from outside, with the largest number of characters in this test. */
const work: Record<string, { run(text: string): unknown; chars: number }> = {
  renderMarkdown: { run: renderMarkdown, chars: 16_000 },
  isTooIntricate: { run: isTooIntricate, chars: 60_000 },
  parseMarkdownV2: { run: parseMarkdownV2, chars: 60_000 },
  parseHtml: { run: parseHtml, chars: 60_000 },
  splitText: { run: (text) => splitText(plain(text), limits), chars: 60_000 },
  'splitText of small entities': {
    run: (text) =>
      splitText(
        {
          text,
          entities: Array.from({ length: text.length >> 1 }, (_, at) => ({ type: 'bold', offset: 2 * at, length: 1 })),
        },
        limits,
      ),
    chars: 40_000,
  },
  'splitText in one long quote': {
    run: (text) =>
      splitText(
        {
          text,
          entities: [
            { type: 'blockquote', offset: 0, length: text.length },
            ...Array.from({ length: text.length >> 1 }, (_, at) => ({
              type: 'bold' as const,
              offset: 2 * at,
              length: 1,
            })),
          ],
        },
        limits,
      ),
    chars: 40_000,
  },
  summarize: { run: (text) => summarize(text, 500), chars: 200_000 },
  cleanText: { run: cleanText, chars: 200_000 },
  dropReminders: { run: dropReminders, chars: 200_000 },
  linkUrl: { run: linkUrl, chars: 60_000 },
  'linkUrl of a host': { run: (text) => linkUrl(`http://${text}`), chars: 60_000 },
  shownTarget: { run: (text) => shownTarget(text, text.slice(1)), chars: 60_000 },
  isSelfLabelled: { run: (text) => isSelfLabelled(text, text.slice(1)), chars: 60_000 },
  columnsOf: { run: columnsOf, chars: 60_000 },
};

describe('the time for a text that was made to be slow grows no faster than the text', () => {
  it.each(Object.entries(work))('%s', async (_name, { run, chars }) => {
    expect(await growsTooFast(run, chars)).toEqual([]);
  });
});

describe('Markdown beyond a limit', () => {
  it('goes as plain text when quotes and items nest deeper than any author writes', () => {
    const deepest = `${'> '.repeat(maxNesting)}a`;
    expect(renderMarkdown(deepest).text).toBe('a');
    expect(renderMarkdown(`> ${deepest}`)).toEqual({ text: `> ${deepest}`, entities: [] });
    const across = Array.from({ length: maxNesting + 1 }, (_, depth) => `${' '.repeat(2 * depth)}- a`).join('\n');
    expect(renderMarkdown(across)).toEqual({ text: across, entities: [] });
  });

  it('keeps the Markdown of long lists, rules, tables and code, which nest nothing', () => {
    const list = Array.from({ length: 1_000 }, (_, at) => `- **item** ${at}`).join('\n');
    const rules = Array.from({ length: 2 * maxUnderlines }, () => '---').join('\n\n');
    const code = `- run\n\`\`\`sh\n${'echo *a* [b]\n'.repeat(2 * maxLazyLines)}\`\`\``;
    for (const text of [list, `${rules}\n\n**a**`, code]) expect(renderMarkdown(text).entities).not.toEqual([]);
    expect(renderMarkdown(code).entities.map(({ type }) => type)).toEqual(['pre']);
  });

  it.each([
    'a\n>\n',
    '> a\n\n',
    '- a\n\nb\n\n',
    '- a\n  - b\n',
    '- > a\n\n',
    '> - a\n>\n> b\n>\n',
    '- a\n* b\n',
    '> a\n# b\n',
  ])('goes as plain text when quotes and lists begin again and again: %j', (part) => {
    const text = part.repeat(2 * maxContainers);
    expect(renderMarkdown(text)).toEqual({ text: text.trim(), entities: [] });
  });

  it('keeps the Markdown of a long list with a list in every second item', () => {
    const list = '- **a**\n- b\n  - c\n'.repeat(maxContainers / 2 - 1);
    expect(renderMarkdown(list).entities).not.toEqual([]);
  });

  it('keeps the emphasis of a paragraph up to the limit, and shows the marks of the rest', () => {
    const { text, entities } = renderMarkdown('**a** '.repeat(maxMarks));
    expect(entities).toHaveLength(maxMarks / 4);
    expect(text.startsWith(`${'a '.repeat(maxMarks / 4)}**a** `)).toBe(true);
    const twice = `${'**a** '.repeat(maxMarks)}\n\n**b**`;
    expect(renderMarkdown(twice).entities).toHaveLength(maxMarks / 4 + 1);
  });

  it('loses no row of a table with a wide head over short rows', () => {
    const table = `${'|a'.repeat(300)}|\n${'|-'.repeat(300)}|\n${'|b\n'.repeat(300)}`;
    expect(renderMarkdown(table).text.match(/b/g)).toHaveLength(300);
  });
});
