// The lines of a text: each of them, or all of them as one. Pure.

/** Every character that some reader takes for the end of a line. */
const lineBreak = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/;

export function splitLines(text: string): string[] {
  return text.split(lineBreak);
}

/** Cut to `maxUnits` UTF-16 units, and never within a character. */
export function cutText(text: string, maxUnits: number): string {
  return text.length <= maxUnits ? text : `${text.slice(0, maxUnits - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The text as one line without control characters and direction marks, cut to `maxUnits` UTF-16 units. */
export function oneLine(text: string, maxUnits: number): string {
  const line = text
    .slice(0, 4 * maxUnits)
    .replace(/[\s\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu, ' ')
    .trim();
  return line.length > maxUnits ? `${line.slice(0, maxUnits).replace(/[\ud800-\udbff]$/, '')}…` : line;
}
