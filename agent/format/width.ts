// How many columns a text takes in a fixed-width font. Must never be used for offsets or limits, which count UTF-16 units.

const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]/u;
const emoji = /\p{Emoji_Presentation}|\ufe0f/u;
const zero = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

export function columnsOf(text: string): number {
  // Printable ASCII, the usual case, needs no segmenter.
  if (/^[ -~]*$/.test(text)) return text.length;
  let columns = 0;
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)) {
    if (emoji.test(segment) || wide.test(segment)) columns += 2;
    else if (!zero.test(segment)) columns += 1;
  }
  return columns;
}
