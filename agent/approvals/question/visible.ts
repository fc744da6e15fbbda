// How a long text or an edit is shown to the eye that approves it. Pure.

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
