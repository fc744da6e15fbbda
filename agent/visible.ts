// Makes characters visible that a phone or a terminal would hide. Pure.

/** C0 and C1 but newline and tab; zero-width, bidi and other formatting marks; odd spaces; variation selectors and tags. */
// Written as text because a control character in a regular expression literal is unreadable.
const hidden = new RegExp(
  [
    '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u00a0\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f]',
    '[\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u3000\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb]',
    '[\\u1680\\u2800\\u{1d159}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]|\\p{Surrogate}',
    // Formatting of every script, what a reader may leave out, and what has no look of its own.
    '\\p{Format}|\\p{Default_Ignorable_Code_Point}|\\p{Private_Use}',
  ].join('|'),
  'gu',
);

/** `⟨U+202E⟩` in place of each; `\r\n` is a newline. */
export function visible(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(hidden, (char) => `⟨U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}

/** The same on one line, so that a text cannot imitate a second line. */
export function visibleLine(text: string): string {
  return visible(text).replaceAll('\n', '⏎');
}

/** JSON on one line that `visible` leaves as it is. */
export function visibleJson(value: unknown): string {
  return JSON.stringify(value).replace(hidden, (char) =>
    [...Array(char.length).keys()].map((unit) => `\\u${char.charCodeAt(unit).toString(16).padStart(4, '0')}`).join(''),
  );
}
