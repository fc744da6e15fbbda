import fc from 'fast-check';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { describe, expect, it } from 'vitest';
import { summarize } from '../../../agent/format/summary.ts';

const lorem = 'All tests pass now. The cause was a stale lock file. It is removed at start. Next comes the release.';

/** Fenced code at the top level that runs to the end because nothing closes it. */
function openFences(markdown: string): string[] {
  return fromMarkdown(markdown).children.flatMap((node) => {
    const source = markdown.slice(node.position?.start.offset, node.position?.end.offset);
    return node.type === 'code' && /^(?:```|~~~)/.test(source) && !/\n *(?:`{3,}|~{3,})$/.test(source) ? [source] : [];
  });
}

describe('summarize', () => {
  it('leaves a text that fits as it is', () => {
    expect(summarize(' Done.\n', 7)).toBe(' Done.\n');
    expect(summarize('  Done.  \n\n', 6)).toBe('Done.');
  });

  it('cuts at the end of a sentence', () => {
    expect(summarize(lorem, 81)).toBe('All tests pass now. The cause was a stale lock file. It is removed at start. …');
  });

  it('does not take an abbreviation for the end of a sentence', () => {
    expect(summarize('Fixed some things, e.g. the parser and the lexer of it all', 41)).toBe(
      'Fixed some things, e.g. the parser and …',
    );
  });

  it('cuts at a word when the sentence is too long', () => {
    expect(summarize('one two three four five six seven', 21)).toBe('one two three four …');
  });

  it('cuts a word that is too long between characters', () => {
    expect(summarize('x'.repeat(30), 10)).toBe(`${'x'.repeat(9)}…`);
    expect(summarize('👨‍👩‍👧‍👦'.repeat(4), 30)).toBe(`${'👨‍👩‍👧‍👦'.repeat(2)}…`);
  });

  it('keeps whole paragraphs and whole list items', () => {
    expect(summarize('Done:\n\n- parser fixed\n- lexer fixed\n- docs written', 45)).toBe(
      'Done:\n\n- parser fixed\n- lexer fixed …',
    );
  });

  it('keeps short code whole and names long code by its length', () => {
    const long = `\`\`\`ts\n${'const a = 1;\n'.repeat(20)}\`\`\``;
    expect(
      summarize(`I ran it:\n\n\`\`\`sh\nnpm test\n\`\`\`\nThen I changed this.\n${long}\nIt works.\n\n${lorem}`, 120),
    ).toBe(
      'I ran it:\n\n```sh\nnpm test\n```\n\nThen I changed this.\n\n[code, 20 lines]\n\nIt works.\n\nAll tests pass now. …',
    );
  });

  it('takes an unclosed fence as code to the end', () => {
    expect(summarize(`See:\n\n\`\`\`\n${'a. b.\n'.repeat(50)}`, 60)).toBe('See:\n\n[code, 50 lines] …');
  });

  it('keeps its mark out of a fence and out of a table', () => {
    expect(summarize(`Ran:\n\n\`\`\`\nls\n\`\`\`\n\n${'x'.repeat(60)}`, 40)).toBe('Ran:\n\n```\nls\n```\n\n…');
    expect(summarize(`| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | ${'x'.repeat(60)} |`, 50)).toBe(
      '| a | b |\n|---|---|\n| 1 | 2 |\n\n…',
    );
  });

  it('keeps nothing of code in a list item or a quote, where the end of a fence depends on the item', () => {
    const list = `1. Run:\n   \`\`\`sh\n   npm ci\n   \`\`\`\n2. Look.\n\n${'x'.repeat(60)}`;
    expect(summarize(list, 60)).toBe('1. Run:\n\n[code, 1 line]\n\n2. Look. …');
    expect(summarize('- ```\n```\n```js\n```', 18)).toBe('…');
    expect(summarize(`Seen:\n\n> \`\`\`\n> ls\n> \`\`\`\n\n${'x'.repeat(60)}`, 40)).toBe('Seen: …');
  });

  it('does not end with a heading whose section is missing', () => {
    expect(summarize(`# Report\n\nAll is well.\n\n## Details\n\n${'x'.repeat(100)}`, 50)).toBe(
      '# Report\n\nAll is well. …',
    );
  });

  it('closes bold text and inline code that the cut left open', () => {
    expect(summarize('**Everything that was asked for is done and more**', 32)).toBe('**Everything that was asked** …');
    expect(summarize('Run `npm run build and then some more words`', 31)).toBe('Run `npm run build and then` …');
  });

  it('keeps within the limit, breaks no character, leaves no fence open and marks what is missing', () => {
    const piece = fc.constantFrom(
      ...[
        '```',
        '```\n',
        '\n```js\n',
        '   ```\n',
        '> ',
        '    ',
        '~~~\n',
        '\n',
        '\n\n',
        ' ',
        '. ',
        '! ',
        '- ',
        '\n- ',
        '1. ',
        '# ',
        '| a | b |\n',
        '**',
        '`',
      ],
      ...['word', 'several more words', 'x'.repeat(40), '😀', '👩🏽‍💻', 'e\u0301', '日本語。'],
    );
    const text = fc.array(piece, { maxLength: 80 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 120 }), (original, maxChars) => {
        const summary = summarize(original, maxChars);
        expect(summary.length).toBeLessThanOrEqual(maxChars);
        expect(summary).not.toMatch(/\p{Surrogate}/u);
        if (original.trim().length <= maxChars) return;
        expect(openFences(summary)).toEqual([]);
        expect(summary.endsWith('…') || maxChars === 0).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });
});
