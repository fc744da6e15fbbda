// Whatever text may come from a coding agent or another program: ordinary ones, changed at some places, and what is made to be slow.

import fc from 'fast-check';
import { fill, shapes, slowUnits } from '../helpers/growth.ts';

export interface TextOptions {
  /** What is written on any day, to be changed. */
  ordinary: readonly string[];
  /** Words of the language, beside those of `slowUnits`. */
  units: readonly string[];
  maxChars: number;
}

const pairs = [
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
  ['<', '>'],
  ['"', '"'],
  ['$(', ')'],
  ['"$(', ')"'],
  ['${x:-', '}'],
  ['{"a":', '}'],
  ['[{"text":', '}]'],
  ['**a ', '**'],
  ['[a](', ')'],
  ["sh -c '", "'"],
  ['eval "', '"'],
] as const;

const random = fc.string({
  unit: fc.oneof(
    fc.integer({ min: 0, max: 0x7f }).map((code) => String.fromCharCode(code)),
    fc.integer({ min: 0x80, max: 0xffff }).map((code) => String.fromCharCode(code)),
  ),
  minLength: 1,
  maxLength: 400,
});

export function anyText({ ordinary, units: own, maxChars }: TextOptions): fc.Arbitrary<string> {
  // Each doubling of the length less likely than the one before it, as far as the last.
  const step = fc.noBias(fc.integer({ min: 0, max: Math.floor(4 * Math.log2(maxChars)) }));
  const chars = fc.tuple(step, step).map((steps) => 2 ** (Math.min(...steps) / 4));
  const unit = fc.oneof(
    fc.constantFrom(...slowUnits),
    fc.constantFrom(...own),
    fc.constantFrom(...ordinary),
    random.map((text) => text.slice(0, 4)),
  );
  const common = fc.constantFrom(...ordinary);

  const repeated = fc
    .tuple(fc.array(unit, { minLength: 1, maxLength: 3 }), chars)
    .map(([of, n]) => fill(of.join(''), n));
  const shaped = fc.tuple(fc.constantFrom(...shapes), chars).map(([shape, n]) => shape.make(n));
  const nested = fc
    .tuple(
      fc.array(fc.constantFrom(...pairs), { minLength: 1, maxLength: 2 }),
      fc.oneof(unit, common),
      chars,
      fc.boolean(),
    )
    .map(([around, core, n, closes]) => {
      const begin = around.map(([open]) => open).join('');
      const end = around
        .map(([, close]) => close)
        .reverse()
        .join('');
      const depth = Math.ceil(n / (begin.length + end.length));
      return begin.repeat(depth) + core + (closes ? end.repeat(depth) : '');
    });
  const edit = fc.record({
    at: fc.nat(),
    takes: fc.oneof(fc.constant(0), fc.nat({ max: 20 })),
    put: fc.oneof({ weight: 4, arbitrary: unit }, { weight: 1, arbitrary: repeated }, { weight: 1, arbitrary: common }),
  });
  const mutated = fc.tuple(common, fc.array(edit, { maxLength: 5 })).map(([start, edits]) =>
    edits.reduce((text, { at, takes, put }) => {
      const cut = at % (text.length + 1);
      return text.slice(0, cut) + put + text.slice(cut + takes);
    }, start),
  );
  const long = fc
    .tuple(fc.array(mutated, { minLength: 1, maxLength: 6 }), fc.constantFrom('\n', '\n\n', '; ', ' ', ''), chars)
    .map(([parts, between, n]) => fill(parts.join(between) + (between || ' '), n));
  const mixed = fc
    .array(fc.oneof(repeated, nested, mutated), { minLength: 2, maxLength: 4 })
    .map((parts) => parts.join(''));
  return fc
    .oneof(
      { weight: 4, arbitrary: mutated },
      { weight: 3, arbitrary: repeated },
      { weight: 3, arbitrary: nested },
      { weight: 2, arbitrary: shaped },
      { weight: 2, arbitrary: long },
      { weight: 2, arbitrary: mixed },
      {
        weight: 1,
        arbitrary: fc.oneof(
          random,
          fc.tuple(random, chars).map(([text, n]) => fill(text, n)),
        ),
      },
    )
    .map((text) => text.slice(0, maxChars));
}
