// Rules of the redaction: what a rule is, how a regular expression becomes one, and one pass of all rules over a text. The work
// grows with the text alone. Must never keep what it found.

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
  /** The place that a match at the start of the text hides: a new word begins after a hidden place. Absent = `find` is enough. */
  findFirst?: (text: string) => Span | undefined;
  /** The regular expressions of the rule, for the test of their growth. */
  patterns: readonly RegExp[];
}

/** A rule that hides what `pattern` (flags g and d) matches, or its group `secret`, where `accept` likes the value and the group `key`. */
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

export interface Found extends Span {
  kind: string;
}

/** Zero-width and formatting characters: readers do not see them, so they must not split a secret. */
const invisible = /\p{Default_Ignorable_Code_Point}+/gu;

/** In order of their starts; they may overlap. */
export function findAll(rules: readonly Rule[], text: string): Found[] {
  const found = scan(rules, text);
  /** The start of each visible stretch, in the text and in its visible part. */
  const stretches: { at: number; seenAt: number }[] = [];
  let seen = '';
  let from = 0;
  const take = (to: number) => {
    if (to > from) stretches.push({ at: from, seenAt: seen.length });
    seen += text.slice(from, to);
  };
  for (const match of text.matchAll(invisible)) {
    take(match.index);
    from = match.index + match[0].length;
  }
  if (from === 0) return found;
  take(text.length);
  let last = 0;
  const placeOf = (unit: number) => {
    while ((stretches[last + 1]?.seenAt ?? Number.POSITIVE_INFINITY) <= unit) last += 1;
    const { at, seenAt } = stretches[last] as { at: number; seenAt: number };
    return at + unit - seenAt;
  };
  for (const { kind, start, end } of scan(rules, seen)) {
    const at = placeOf(start);
    const lastOfStart = last;
    found.push({ kind, start: at, end: placeOf(end - 1) + 1 });
    // The next find may begin before the end of this one.
    last = lastOfStart;
  }
  return found.sort(byStart);
}

function byStart(a: Span, b: Span): number {
  return a.start - b.start;
}

/** No secret has a longer form, so a look at one place needs no more of the text. */
const maxFormUnits = 64 * 1024;

function scan(rules: readonly Rule[], text: string): Found[] {
  const everywhere = rules.flatMap((rule) => rule.find(text).map((span) => ({ ...span, kind: rule.kind })));
  everywhere.sort(byStart);
  const all: Found[] = [];
  let next = 0;
  /** Finds at the end of a hidden place; few, because a form is short. */
  let behind: Found[] = [];
  /** The end of the hidden text so far. */
  let end = -1;
  let looked = -1;
  for (;;) {
    const [first, late] = [everywhere[next], behind[0]];
    const isLate = late !== undefined && (first === undefined || late.start < first.start);
    const candidate = isLate ? late : first;
    if (end > looked && (candidate === undefined || candidate.start >= end)) {
      looked = end;
      const rest = text.slice(end, end + maxFormUnits);
      const more = rules.flatMap(({ kind, findFirst }) => {
        const span = findFirst?.(rest);
        return span ? [{ kind, start: end + span.start, end: end + span.end }] : [];
      });
      if (more.length > 0) behind = [...behind, ...more].sort(byStart);
      continue;
    }
    if (candidate === undefined) return all;
    if (isLate) behind.shift();
    else next += 1;
    all.push(candidate);
    end = Math.max(end, candidate.end);
  }
}
