// What a rule of the redaction table is, and the usual way to make one from a regular expression.
// Must never keep what it found.

/** One place to hide, in UTF-16 units. */
export interface Span {
  start: number;
  end: number;
}

/** Must find in time linear in the text, and must give spans that are not empty. */
export interface Rule {
  kind: string;
  /** In order. */
  find: (text: string) => Span[];
  /** What a match at its very start hides of a text: behind a hidden place a word begins anew. Absent = `find` has seen it. */
  findFirst?: (text: string) => Span | undefined;
  /** What it looks with, for the test of their growth. */
  patterns: readonly RegExp[];
}

/** Hides what `pattern` (flags g and d) matches, or its group `secret`, where `accept` likes the value and the group `key`. */
export function patternRule(
  kind: string,
  pattern: RegExp,
  accept: (value: string, key: string) => boolean = () => true,
): Rule {
  const spanOf = (text: string, match: RegExpExecArray): Span | undefined => {
    const [start, end] = match.indices?.groups?.secret ?? [match.index, match.index + match[0].length];
    return end > start && accept(text.slice(start, end), match.groups?.key ?? '') ? { start, end } : undefined;
  };
  return {
    kind,
    patterns: [pattern],
    find: (text) => [...text.matchAll(pattern)].flatMap((match) => spanOf(text, match) ?? []),
    findFirst: atStart(pattern, spanOf),
  };
}

/** `findFirst` of a pattern. */
export function atStart(
  pattern: RegExp,
  spanOf: (text: string, match: RegExpExecArray) => Span | undefined,
): (text: string) => Span | undefined {
  const sticky = new RegExp(pattern.source, pattern.flags.replace('g', 'y'));
  return (text) => {
    sticky.lastIndex = 0;
    const match = sticky.exec(text);
    return match === null ? undefined : spanOf(text, match);
  };
}
