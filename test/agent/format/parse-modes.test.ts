// MarkdownV2 and HTML of writers who chose them, held against the simulated Telegram, which parses them in its own way.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseHtml as simHtml } from '../../../agent/dev/telegram-sim/html.ts';
import { parseMarkdownV2 as simMarkdownV2 } from '../../../agent/dev/telegram-sim/markdown-v2.ts';
import { parseHtml } from '../../../agent/format/html.ts';
import { parseMarkdownV2 } from '../../../agent/format/markdown-v2.ts';
import type { Rendered } from '../../../agent/format/sheet.ts';
import { runs } from '../../property/runs.ts';

/** `type@offset+length` of each entity. */
const short = (rendered: Rendered | undefined) =>
  rendered && [
    rendered.text,
    ...rendered.entities.map(
      ({ type, offset, length, url, language }) => `${type}@${offset}+${length}${url ?? language ?? ''}`,
    ),
  ];

describe('MarkdownV2', () => {
  it.each<[string, string[] | undefined]>([
    [
      '*bold _italic ~strike ||spoiler||~ __underline___ bold*',
      [
        'bold italic strike spoiler underline bold',
        'bold@0+41',
        'italic@5+31',
        'strikethrough@12+14',
        'spoiler@19+7',
        'underline@27+9',
      ],
    ],
    ['[a \\] b](https://e.org/x\\)y) 1\\.5', ['a ] b 1.5', 'text_link@0+5https://e.org/x)y']],
    ['`a\\`b` ```ts\nlet x = `;```', undefined],
    ['`a\\`b` ```ts\nlet x;\n```', ['a`b let x;', 'code@0+3', 'pre@4+6ts']],
    ['>one\n>two\nafter', ['one\ntwo\nafter', 'blockquote@0+7']],
    ['**>one\n>two||\nafter', ['one\ntwo\nafter', 'expandable_blockquote@0+7']],
    ['a.', undefined],
    ['*open', undefined],
    ['[label](javascript:x)', ['label']],
    ['[label]', undefined],
    ['', ['']],
  ])('%j', (source, expected) => {
    expect(short(parseMarkdownV2(source))).toEqual(expected);
  });

  it('is taken or refused as Telegram does, with the same text', () => {
    const piece = fc.constantFrom(
      '*',
      '_',
      '__',
      '~',
      '||',
      '`',
      '```',
      'a',
      'b c',
      '\n',
      '\\.',
      '\\\\',
      '.',
      '(',
      '[',
      ']',
      '[x](https://e.org)',
      '🙏',
    );
    agrees(fc.array(piece, { maxLength: 10 }), parseMarkdownV2, simMarkdownV2);
  });
});

describe('HTML', () => {
  it.each<[string, string[] | undefined]>([
    [
      '<b>bold <i>italic</i></b> <u>u</u> <tg-spoiler>s</tg-spoiler>',
      ['bold italic u s', 'bold@0+11', 'italic@5+6', 'underline@12+1', 'spoiler@14+1'],
    ],
    ['<pre><code class="language-ts">a &lt; b</code></pre>', ['a < b', 'pre@0+5ts']],
    [
      '<a href="https://e.org/?a=1&amp;b=2">x</a> &#x1F64F;&nbsp;',
      ['x 🙏&nbsp;', 'text_link@0+1https://e.org/?a=1&b=2'],
    ],
    ['<blockquote expandable>q</blockquote>', ['q', 'expandable_blockquote@0+1']],
    ['<b>open', undefined],
    ['<b><i>x</b></i>', undefined],
    ['<div>x</div>', undefined],
    ['a < b', undefined],
    ['<a href="javascript:x">label</a>', ['label']],
  ])('%j', (source, expected) => {
    expect(short(parseHtml(source))).toEqual(expected);
  });

  it('is taken or refused as Telegram does, with the same text', () => {
    const piece = fc.constantFrom(
      '<b>',
      '</b>',
      '<i>',
      '</i>',
      '<code>',
      '</code>',
      '<pre>',
      '</pre>',
      '<blockquote>',
      '</blockquote>',
      '<x>',
      'a',
      'b c',
      '\n',
      '&lt;',
      '&amp;',
      '&#65;',
      '>',
      '🙏',
    );
    agrees(fc.array(piece, { maxLength: 10 }), parseHtml, simHtml);
  });
});

function agrees(
  pieces: fc.Arbitrary<string[]>,
  ours: (source: string) => Rendered | undefined,
  theirs: (source: string) => { text: string },
): void {
  fc.assert(
    fc.property(pieces, (all) => {
      const source = all.join('');
      const expected = attempt(() => theirs(source).text.trim());
      expect([source, ours(source)?.text]).toEqual([source, expected]);
    }),
    { numRuns: runs(3_000) },
  );
}

function attempt(work: () => string): string | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
