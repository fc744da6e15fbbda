import { expect, it } from 'vitest';
import { visible, visibleJson } from '../../agent/visible.ts';

it('JSON for a program keeps every character, and has none that a terminal would obey or not show', () => {
  const value = { preview: '\u001b[2Jgone\u202e\u009b\u{e0061}\u00a0é 😀\nnext' };
  const line = visibleJson(value);
  expect(visible(line)).toBe(line);
  expect(JSON.parse(line)).toEqual(value);
});
