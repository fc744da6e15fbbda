import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderMarkdown } from '../../../agent/format/render.ts';
import { entityProblems } from '../../helpers/entities.ts';

const torture = readFileSync(new URL('../../fixtures/markdown/markdown-torture.md', import.meta.url), 'utf8');

/** The text, then each entity with the text it covers and its url or language. */
function rendered(markdown: string): [string, ...string[][]] {
  const { text, entities } = renderMarkdown(markdown);
  if (text !== '') expect(entityProblems({ text, entities })).toEqual([]);
  return [
    text,
    ...entities.map(({ type, offset, length, url, language }) => [
      type,
      text.slice(offset, offset + length),
      ...(url === undefined ? [] : [url]),
      ...(language === undefined ? [] : [language]),
    ]),
  ];
}

describe('renderMarkdown', () => {
  it('marks emphasis, and code without anything around it', () => {
    expect(rendered('**All `42` pass**, *details*, ***both***, ~~old~~ and `npm test`.')).toEqual([
      'All 42 pass, details, both, old and npm test.',
      ['bold', 'All'],
      ['code', '42'],
      ['bold', 'pass'],
      ['italic', 'details'],
      ['bold', 'both'],
      ['italic', 'both'],
      ['strikethrough', 'old'],
      ['code', 'npm test'],
    ]);
  });

  it('makes a heading a bold line without a second bold inside', () => {
    expect(rendered('# A **big** `day`\ntext')).toEqual(['A big day\n\ntext', ['bold', 'A big'], ['code', 'day']]);
  });

  it('keeps names, globs and products that look like emphasis', () => {
    expect(rendered('__init__.py, snake_case_name, 2*3*4, src/**/*.ts and **/*.test.ts, ~5 to ~10')).toEqual([
      '__init__.py, snake_case_name, 2*3*4, src/**/*.ts and **/*.test.ts, ~5 to ~10',
    ]);
  });

  it('indents nested lists by two spaces, shows tasks as boxes and keeps written numbers', () => {
    expect(rendered('- a\n  - b\n    1. c\n    1. d\n- [x] done\n- [ ] open\n\n3. three\n10. ten')).toEqual([
      '• a\n  • b\n    1. c\n    2. d\n☑ done\n☐ open\n\n3. three\n10. ten',
    ]);
  });

  it('keeps code in a list at the first column', () => {
    expect(rendered('1. Run\n\n   ```sh\n   npm ci\n     npm test\n   ```\n2. Look\n\n   twice')).toEqual([
      '1. Run\nnpm ci\n  npm test\n\n2. Look\n\n  twice',
      ['pre', 'npm ci\n  npm test', 'sh'],
    ]);
  });

  it('gives a fence its language, an unclosed one too, and takes nothing in it for Markdown', () => {
    expect(rendered('````markdown\n```js\n**x** [a](b) &amp;\n```\n````\n\n```sh\nls | wc')).toEqual([
      '```js\n**x** [a](b) &amp;\n```\n\nls | wc',
      ['pre', '```js\n**x** [a](b) &amp;\n```', 'markdown'],
      ['pre', 'ls | wc', 'sh'],
    ]);
  });

  it('shifts code at the very start as a whole, since the server trims the first line', () => {
    expect(rendered('```\n    if a:\n        b\n```')).toEqual(['if a:\n    b', ['pre', 'if a:\n    b']]);
  });

  it('pads the columns of a table, wide characters counted as two', () => {
    expect(
      rendered('| File | Lines | Note |\n|:--|--:|:-:|\n| `a.ts` | 12 | **ok** |\n| 日本 | 1,204 | a \\| b ✅ |'),
    ).toEqual([
      'File | Lines |   Note\n-----+-------+---------\na.ts |    12 |    ok\n日本 | 1,204 | a | b ✅',
      ['pre', 'File | Lines |   Note\n-----+-------+---------\na.ts |    12 |    ok\n日本 | 1,204 | a | b ✅'],
    ]);
  });

  it('writes a table too wide for a phone as lines of header and value', () => {
    const long = 'a sentence that takes more than the width of the screen of a phone';
    expect(
      rendered(`| File | What |\n|--|--|\n| \`a.ts\` | ${long} |\n| b.ts | |\n| c | [${long}](https://e.org/x) |`),
    ).toEqual([
      `File: a.ts\nWhat: ${long}\n\nFile: b.ts\n\nFile: c\nWhat: ${long}`,
      ['bold', 'File:'],
      ['code', 'a.ts'],
      ['bold', 'What:'],
      ['bold', 'File:'],
      ['bold', 'File:'],
      ['bold', 'What:'],
      ['text_link', long, 'https://e.org/x'],
    ]);
  });

  it('writes a table with links as lines too, so that they can be tapped', () => {
    expect(rendered('| PR | State |\n|--|--|\n| [7](https://e.org/7) | open |')).toEqual([
      'PR: 7\nState: open',
      ['bold', 'PR:'],
      ['text_link', '7', 'https://e.org/7'],
      ['bold', 'State:'],
    ]);
  });

  it('keeps the header of a column without values and skips empty rows', () => {
    const wide = 'x'.repeat(60);
    expect(rendered(`| A | B |\n|--|--|\n| ${wide} | |\n| | |\n| c | |`)).toEqual([
      `A: ${wide}\nB: –\n\nA: c`,
      ['bold', 'A:'],
      ['bold', 'B:'],
      ['bold', 'A:'],
    ]);
  });

  it('keeps a table that has only a header', () => {
    expect(rendered('| a | b |\n|--|--|')).toEqual(['a | b\n--+--', ['pre', 'a | b\n--+--']]);
  });

  it('links only what the server accepts and shows other targets', () => {
    expect(
      rendered(
        '[a](https://example.com/a_(b)?q=1) [b](http://[::1]:80/x) [c](http://localhost:3000) [d](src/d.ts) ' +
          '[src/e.ts](src/e.ts) [f](#top) [g](mailto:me@example.com) [h](tg://user?id=1) [](https://e.org)',
      ),
    ).toEqual([
      'a b c (http://localhost:3000) d (src/d.ts) src/e.ts f g (me@example.com) h (tg://user?id=1) https://e.org',
      ['text_link', 'a', 'https://example.com/a_(b)?q=1'],
      ['text_link', 'b', 'http://[::1]:80/x'],
      ['code', 'http://localhost:3000'],
      ['code', 'src/d.ts'],
      ['code', 'me@example.com'],
      ['code', 'tg://user?id=1'],
      ['code', 'https://e.org'],
    ]);
  });

  it('leaves bare addresses to the chat client', () => {
    expect(rendered('https://example.com/a_(b) <https://example.com> www.example.com me@example.com')).toEqual([
      'https://example.com/a_(b) https://example.com www.example.com me@example.com',
    ]);
  });

  it('resolves references, puts footnotes last and links images by their description', () => {
    expect(
      rendered(
        '[one][r] two[^n] ![a plan](https://e.org/p.png) ![](https://e.org/q.png?x)\n\n[r]: https://e.org/r\n[^n]: The note.\n\nEnd.',
      ),
    ).toEqual([
      'one two[n] a plan q.png\n\nEnd.\n\n[n] The note.',
      ['text_link', 'one', 'https://e.org/r'],
      ['text_link', 'a plan', 'https://e.org/p.png'],
      ['text_link', 'q.png', 'https://e.org/q.png?x'],
    ]);
  });

  it('makes one quote of nested quotes, and cuts it only around a block of code', () => {
    expect(rendered('> **one** `x`\n> > two\n>\n> ```\n> code\n> ```\n> three')).toEqual([
      'one `x`\n\ntwo\n\ncode\n\nthree',
      ['blockquote', 'one `x`\n\ntwo'],
      ['bold', 'one'],
      ['pre', 'code'],
      ['blockquote', 'three'],
    ]);
  });

  it('shows raw HTML as it is and drops what was meant for the model', () => {
    expect(
      rendered('<b>x</b> a<br>b &lt;c&gt; &copy;\n\n<system-reminder>no\n\nno</system-reminder>\n\n<div>\n*y*\n</div>'),
    ).toEqual(['<b>x</b> a\nb <c> ©\n\n<div>\n*y*\n</div>']);
  });

  it('shows a reminder that is never closed', () => {
    expect(rendered('a <system-reminder> b')).toEqual(['a <system-reminder> b']);
  });

  it('strips escape sequences and characters that would shift the offsets', () => {
    const dirty =
      '\u001b[1;32mgreen\u001b[0m \u001b]8;;x\u0007link\u001b]8;;\u0007 a\r\nb\u0000 \u202ec &#x202e;&#13;**d**\ud800';
    expect(rendered(dirty)).toEqual(['green link a\nb c \nd\ufffd', ['bold', 'd']]);
  });

  it('draws a rule and keeps both kinds of line break', () => {
    expect(rendered('a  \nb\\\nc\nd\n\n* * *\n\ne')).toEqual(['a\nb\nc\nd\n\n———\n\ne']);
  });

  it('counts emoji in UTF-16 units', () => {
    expect(renderMarkdown('👩🏽‍💻 **𝒴** **שלום**')).toEqual({
      text: '👩🏽‍💻 𝒴 שלום',
      entities: [
        { type: 'bold', offset: 8, length: 2 },
        { type: 'bold', offset: 11, length: 4 },
      ],
    });
  });

  it('gives empty text when there is nothing to see', () => {
    for (const blank of ['', ' \n', '\u200b', '&nbsp;', '[r]: https://e.org', '<system-reminder>x</system-reminder>']) {
      expect(rendered(blank)).toEqual(['']);
    }
  });

  it('shows every word inside any Markdown', () => {
    const around = fc.constantFrom(
      ...[
        '**',
        '*',
        '_',
        '~~',
        '`',
        '\n```\n',
        '\n',
        '\n\n',
        '\n> ',
        '\n- ',
        '\n  - ',
        '\n1. ',
        '\n- [x] ',
        '\n# ',
        '\n---\n',
      ],
      ...[
        '\n===\n',
        '<b>',
        '<br>',
        '<!--',
        '-->',
        '    ',
        '\t',
        '|',
        '\n|--|--|\n',
        '| ',
        '\\',
        '&amp;',
        '![',
        '[',
        ']',
        '(',
        ')',
        '\n<div>\n',
      ],
    );
    fc.assert(
      fc.property(fc.array(around, { maxLength: 40 }), (marks) => {
        const words = marks.map((_, i) => `word${i}x`);
        // A blank keeps a word from becoming the language of a fence or the target of a link.
        const markdown = marks.map((mark, i) => `${mark} ${words[i]} `).join('');
        const { text } = renderMarkdown(markdown);
        expect(words.filter((word) => !text.includes(word))).toEqual([]);
      }),
      { numRuns: 2000 },
    );
  });

  it('shows the torture file as a person would write it', () => {
    expect(rendered(torture)).toMatchSnapshot();
  });

  it('sends Markdown nested deeper than the stack as plain text', () => {
    const markdown = `${'>'.repeat(4000)} a`;
    expect(renderMarkdown(markdown)).toEqual({ text: markdown, entities: [] });
  });
});
