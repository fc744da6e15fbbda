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

// Not `\p{Cc}`, whose characters V8 looks up one by one: that takes a hook as long as to read the inbox file.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it removes.
const spaceOrControl = /[\s\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g;

/** The text as one line without control characters and direction marks, cut to `maxUnits` UTF-16 units. */
export function oneLine(text: string, maxUnits: number): string {
  const line = text
    .slice(0, 4 * maxUnits)
    .replace(spaceOrControl, ' ')
    .trim();
  return line.length > maxUnits ? `${line.slice(0, maxUnits).replace(/[\ud800-\udbff]$/, '')}…` : line;
}
