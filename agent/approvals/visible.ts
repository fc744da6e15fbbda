// Makes visible what a text hides from the eye that approves it. Pure.

/** C0 and C1 but newline and tab; zero-width, bidi and other formatting marks; odd spaces; variation selectors and tags. */
// Written as text because a control character in a regular expression literal is unreadable.
const hidden = new RegExp(
  [
    '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u00a0\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f]',
    '[\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u3000\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb]',
    '[\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]|\\p{Surrogate}',
  ].join('|'),
  'gu',
);

/** `⟨U+202E⟩` in place of each; `\r\n` is a newline. */
export function visible(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(hidden, (char) => `⟨U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}

/** Head and tail with what was left out between them, at most about `maxUnits` UTF-16 units. */
export function headAndTail(text: string, maxUnits: number): string {
  if (text.length <= maxUnits) return text;
  const tail = Math.floor(maxUnits / 3);
  const head = text.slice(0, maxUnits - tail).replace(/[\ud800-\udbff]$/, '');
  const end = text.slice(-tail).replace(/^[\udc00-\udfff]/, '');
  return `${head}\n⟨… ${text.length - head.length - end.length} characters left out …⟩\n${end}`;
}

const contextLines = 1;

/** What an edit changes, as lines with `-` and `+` and one line around them. `show` gives what stands there for a text, as many lines as it has. */
export function shortDiff(before: string, after: string, show: (text: string) => string = (text) => text): string {
  const linesOf = (text: string) => (text === '' ? [] : text.split('\n'));
  const [old, now, oldShown, nowShown] = [before, after, show(before), show(after)].map(linesOf) as [
    string[],
    string[],
    string[],
    string[],
  ];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let same = 0;
  while (same < Math.min(old.length, now.length) - start && old.at(-1 - same) === now.at(-1 - same)) same += 1;
  const from = Math.max(0, start - contextLines);
  const around = (lines: string[]) => lines.map((line) => `  ${line}`);
  return [
    ...around(nowShown.slice(from, start)),
    ...oldShown.slice(start, old.length - same).map((line) => `- ${line}`),
    ...nowShown.slice(start, now.length - same).map((line) => `+ ${line}`),
    ...around(nowShown.slice(now.length - same, now.length - same + contextLines)),
  ].join('\n');
}
