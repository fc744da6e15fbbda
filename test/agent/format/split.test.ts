import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderMarkdown } from '../../../agent/format/render.ts';
import type { Rendered } from '../../../agent/format/sheet.ts';
import type { SplitLimits } from '../../../agent/format/split.ts';
import { splitText } from '../../../agent/format/split.ts';
import type { TextEntity, TextPart } from '../../../protocol/relay-api.ts';
import { entityProblems } from '../../helpers/entities.ts';

const torture = readFileSync(new URL('../../fixtures/markdown/markdown-torture.md', import.meta.url), 'utf8');

const plain = (text: string): Rendered => ({ text, entities: [] });
const texts = (parts: TextPart[]) => parts.map((part) => part.text);

/** Each character that is not white space, with the entities over it: what splitting must keep. */
function inked(text: string, entities: TextEntity[]): string[] {
  const over = new Map<number, string[]>();
  for (const { type, offset, length, url, language } of entities) {
    for (let i = offset; i < offset + length; i++) {
      over.set(i, [...(over.get(i) ?? []), `${type} ${url ?? ''} ${language ?? ''}`]);
    }
  }
  return [...text.split('').keys()]
    .filter((i) => /\S/.test(text.charAt(i)))
    .map((i) => `${text.charAt(i)} ${(over.get(i) ?? []).sort().join()}`);
}

function inkedParts(parts: TextPart[]): string[] {
  if (parts.length === 1) return inked(parts[0]?.text ?? '', parts[0]?.entities ?? []);
  return parts.flatMap((part) => {
    const number = part.text.indexOf('\n') + 1;
    return inked(
      part.text.slice(number),
      part.entities.map((entity) => ({ ...entity, offset: entity.offset - number })),
    );
  });
}

const limits = { maxUnits: 4096 };

function expectSound(rendered: Rendered, limits: SplitLimits): void {
  const parts = splitText(rendered, limits);
  expect(parts.flatMap(entityProblems)).toEqual([]);
  expect(parts.filter((part) => part.text.length > limits.maxUnits)).toEqual([]);
  expect(parts.filter((part) => part.entities.length > (limits.maxEntities ?? 100))).toEqual([]);
  expect(inkedParts(parts)).toEqual(inked(rendered.text, rendered.entities));
}

describe('splitText', () => {
  it('leaves a text that fits alone', () => {
    expect(splitText(plain('hello'), limits)).toEqual([{ text: 'hello', entities: [] }]);
  });

  it('makes no part of text without a visible character', () => {
    expect(splitText(plain(' \n '), limits)).toEqual([]);
  });

  it('trims what the server would trim, with the entities moved', () => {
    const rendered: Rendered = { text: '\n  bold \n', entities: [{ type: 'bold', offset: 1, length: 7 }] };
    expect(splitText(rendered, limits)).toEqual([{ text: 'bold', entities: [{ type: 'bold', offset: 0, length: 4 }] }]);
  });

  it('prefers an empty line over a newline over a space, and numbers the parts inside the limit', () => {
    const a = 'a'.repeat(20);
    expect(texts(splitText(plain(`${a}\n\nb b\nc d ${a}`), { maxUnits: 36 }))).toEqual([
      `(1/2)\n${a}`,
      `(2/2)\nb b\nc d ${a}`,
    ]);
    expect(texts(splitText(plain(`${a} b\nc d ${a}`), { maxUnits: 36 }))).toEqual([`(1/2)\n${a} b`, `(2/2)\nc d ${a}`]);
    expect(texts(splitText(plain(`${a} b c d ${a}`), { maxUnits: 36 }))).toEqual([`(1/2)\n${a} b c d`, `(2/2)\n${a}`]);
  });

  it('closes a fence at the cut and opens it again with its language, indentation kept', () => {
    const rendered = renderMarkdown('```ts\nif (ready) {\n    startTheEngine();\n    driveAway();\n}\n```');
    expect(splitText(rendered, { maxUnits: 46 })).toEqual([
      {
        text: '(1/2)\nif (ready) {\n    startTheEngine();',
        entities: [{ type: 'pre', offset: 6, length: 34, language: 'ts' }],
      },
      { text: '(2/2)\n    driveAway();\n}', entities: [{ type: 'pre', offset: 6, length: 18, language: 'ts' }] },
    ]);
  });

  it('cuts between characters as a person sees them when there is no space', () => {
    const family = '👨‍👩‍👧‍👦';
    expect(texts(splitText(plain(family.repeat(5)), { maxUnits: 40 }))).toEqual([
      `(1/2)\n${family.repeat(3)}`,
      `(2/2)\n${family.repeat(2)}`,
    ]);
  });

  it('cuts a character longer than a whole part, but not inside a surrogate pair', () => {
    const parts = splitText(plain(`😀${'\u200d😀'.repeat(40)}`), { maxUnits: 33 });
    expect(parts.flatMap(entityProblems)).toEqual([]);
    expect(parts.map((part) => part.text.slice(part.text.indexOf('\n') + 1)).join('')).toBe(
      `😀${'\u200d😀'.repeat(40)}`,
    );
  });

  it('starts another part when a part would have too many entities', () => {
    const parts = splitText(renderMarkdown('`a` '.repeat(250)), limits);
    expect(parts.map((part) => part.entities.length)).toEqual([100, 100, 50]);
    expect(parts.flatMap(entityProblems)).toEqual([]);
  });

  it('numbers a hundred parts without outgrowing the limit', () => {
    const parts = splitText(plain('word '.repeat(1000)), { maxUnits: 60 });
    expect(parts.at(-1)?.text.startsWith(`(${parts.length}/${parts.length})\n`)).toBe(true);
    expect(Math.max(...parts.map((part) => part.text.length))).toBeLessThanOrEqual(60);
  });

  it('gives valid parts and loses nothing of the torture file at any size', () => {
    const rendered = renderMarkdown(torture);
    for (let maxUnits = 32; maxUnits <= 4096; maxUnits += maxUnits < 300 ? 1 : 37) expectSound(rendered, { maxUnits });
    for (const maxEntities of [8, 9, 20, 50]) expectSound(rendered, { ...limits, maxEntities });
  });

  it('gives valid parts and loses nothing of any Markdown', () => {
    const piece = fc.constantFrom(
      ...['**', '*', '_', '~~', '`', '```', '```js\n', '\n', '\n\n', '\n> ', '\n- ', '\n  - ', '\n1. ', '- [x] ', '# '],
      ...[
        '[a](https://example.com/x)',
        '[b](src/a.ts)',
        '[c](http://localhost:1)',
        '![i](https://e.org/p.png)',
        '[^1]',
      ],
      ...[
        '\n[^1]: note\n',
        '<b>',
        '</b>',
        '<br>',
        '&nbsp;',
        '&#8232;',
        '\\',
        '| a | b |\n|---|---|\n| `c` | **d** |\n',
      ],
      ...[
        'word',
        'two words',
        ' ',
        '    ',
        '\t',
        '😀',
        '👩🏽‍💻',
        'e\u0301',
        '日本',
        'שלום',
        '\u200b',
        '\u202e',
        '\u001b[1m',
        '\ud800',
      ],
      ...['\u00a0', '***', '---', '\n===\n', '<system-reminder>', '</system-reminder>', 'www.example.com', 'a@b.de'],
    );
    const document = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(
        document,
        fc.integer({ min: 32, max: 200 }),
        fc.integer({ min: 8, max: 20 }),
        (markdown, ...limits) => {
          const [maxUnits, maxEntities] = limits;
          expectSound(renderMarkdown(markdown), { maxUnits, maxEntities });
        },
      ),
      { numRuns: 1500 },
    );
  });

  it('gives valid parts of any text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 400 }),
        fc.integer({ min: 32, max: 90 }),
        (text, maxUnits) => {
          expectSound(renderMarkdown(text), { maxUnits });
        },
      ),
      { numRuns: 500 },
    );
  });
});
