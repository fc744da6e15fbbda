// Which part of a secret may be hidden in a text that is about to run. The person who approves the text must see everything that a
// shell could interpret, so only plain characters of one word are hidden, up to white space, a quote or another active character.

import type { Found, Span } from './redaction-rule.ts';

const plain = /[A-Za-z0-9+/=_.-]+/g;
/** Characters after which a shell may interpret a secret as something else. */
const active = /[\s$`(){};&|<>"'\\]/;

/** The spans to hide, in order. */
export function plainParts(text: string, found: Found): Span[] {
  if (found.kind === 'private-key') return keyLines(text, found);
  const secret = text.slice(found.start, found.end);
  const stop = secret.search(active);
  const word = stop === -1 ? secret : secret.slice(0, stop);
  return [...word.matchAll(plain)].map(({ index, 0: { length } }) => ({
    start: found.start + index,
    end: found.start + index + length,
  }));
}

/** Shorter lines stay visible, because the name of a program looks like them. */
const keyLine = /[A-Za-z0-9+/]{32,}={0,2}/g;

/** The lines of nothing but base64, as a machine writes it. */
function keyLines(text: string, { start, end }: Span): Span[] {
  return [...text.slice(start, end).matchAll(keyLine)].flatMap(({ index, 0: line }) => {
    // An escaped newline in a string on one line.
    const isEscape = text[start + index - 1] === '\\' && /^[nr]/.test(line);
    const from = start + index + (isEscape ? 1 : 0);
    const to = start + index + line.length;
    const before = text.slice(Math.max(start, from - 12), from);
    const after = text.slice(to, Math.min(end, to + 12));
    const isLine =
      (isEscape || /(?:[\r\n]|-----)[ \t"'>|+,]*$/.test(before)) && /^[ \t"',+]*(?:$|[\r\n\\-])/.test(after);
    const isMixed = /[A-Z]/.test(line) && /[a-z]/.test(line) && /\d/.test(line);
    return isLine && isMixed ? [{ start: from, end: to }] : [];
  });
}
