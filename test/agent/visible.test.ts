import { expect, it } from 'vitest';
import { visible, visibleJson } from '../../agent/visible.ts';

it('JSON for a program keeps every character, and has none that a terminal would obey or not show', () => {
  const value = { preview: '\u001b[2Jgone\u202e\u009b\u{e0061}\u00a0é 😀\nnext' };
  const line = visibleJson(value);
  expect(visible(line)).toBe(line);
  expect(JSON.parse(line)).toEqual(value);
});

it.each(['\u1680', '\u2800', '\u{1d159}', '\u{1bca0}', '\u{13430}', '\u{110bd}', '\u0600', '\ue000', '\u{f0000}'])(
  'the blank, formatting or private character %j is shown by its number',
  (char) => {
    const number = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    expect(visible(`a${char}b é 😀 中 ع`)).toBe(`a⟨U+${number}⟩b é 😀 中 ع`);
  },
);
