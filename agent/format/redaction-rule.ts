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
  find: (text: string) => Span[];
}

/** Hides what `pattern` (flags g and d) matches, or its group `secret`, where `accept` likes the value and the group `key`. */
export function patternRule(
  kind: string,
  pattern: RegExp,
  accept: (value: string, key: string) => boolean = () => true,
): Rule {
  return {
    kind,
    find: (text) => {
      const spans: Span[] = [];
      for (const match of text.matchAll(pattern)) {
        const [start, end] = match.indices?.groups?.secret ?? [match.index, match.index + match[0].length];
        if (end > start && accept(text.slice(start, end), match.groups?.key ?? '')) spans.push({ start, end });
      }
      return spans;
    },
  };
}
