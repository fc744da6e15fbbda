// Rules of the redaction: what a rule is, and one pass of all rules over a text. The work grows with the text alone.
// Must never keep what it found.

/** One place to hide, in UTF-16 units; never empty. */
export interface Span {
  start: number;
  end: number;
}

export interface Found extends Span {
  kind: string;
}

/** The place that a match hides; undefined = the match is not what the rule looks for. */
type SpanOf = (text: string, match: RegExpExecArray) => Span | undefined;

export interface Rule {
  kind: string;
  /** Has the flag g. */
  pattern: RegExp;
  /** The pattern for a match at one place, because a new word begins after a hidden place. */
  sticky: RegExp;
  /** Must take time linear in the text for all matches together. */
  spanOf: SpanOf;
}

export function ruleOf(kind: string, pattern: RegExp, spanOf: SpanOf): Rule {
  return { kind, pattern, sticky: new RegExp(pattern.source, pattern.flags.replace('g', 'y')), spanOf };
}

/** Hides what `pattern` (flags g and d) matches, or its group `secret`, where `accept` likes the value and the group `key`. */
export function patternRule(
  kind: string,
  pattern: RegExp,
  accept: (value: string, key: string) => boolean = () => true,
): Rule {
  return ruleOf(kind, pattern, (text, { index, 0: { length }, indices, groups }) => {
    const [start, end] = indices?.groups?.secret ?? [index, index + length];
    return end > start && accept(text.slice(start, end), groups?.key ?? '') ? { start, end } : undefined;
  });
}

/** Readers do not see zero-width and formatting characters, so these characters must not split a secret. */
const invisible = /\p{Default_Ignorable_Code_Point}/u;
const visible = /\P{Default_Ignorable_Code_Point}+/gu;

/** In order of their starts; they may overlap. */
export function findAll(rules: readonly Rule[], text: string): Found[] {
  const found = scan(rules, text);
  if (!invisible.test(text)) return found;
  let shown = '';
  /** The place in the text of each unit of `shown`. */
  const places: number[] = [];
  for (const { index, 0: piece } of text.matchAll(visible)) {
    shown += piece;
    for (let unit = 0; unit < piece.length; unit++) places.push(index + unit);
  }
  for (const { kind, start, end } of scan(rules, shown)) {
    found.push({ kind, start: places[start] as number, end: (places[end - 1] as number) + 1 });
  }
  return found.sort(byStart);
}

function byStart(a: Span, b: Span): number {
  return a.start - b.start;
}

/** Every secret form is shorter, so a look at one place needs only this much of the text. */
const maxFormUnits = 64 * 1024;

function scan(rules: readonly Rule[], text: string): Found[] {
  const everywhere = rules
    .flatMap((rule) => [...text.matchAll(rule.pattern)].flatMap((match) => foundBy(rule, text, match)))
    .sort(byStart);
  const all: Found[] = [];
  let next = 0;
  /** Finds at the end of a hidden place; few, because a form is short. */
  const behind: Found[] = [];
  /** The end of the hidden text so far. */
  let end = -1;
  let looked = -1;
  for (;;) {
    const [first, late] = [everywhere[next], behind[0]];
    const isLate = late !== undefined && (first === undefined || late.start < first.start);
    const candidate = isLate ? late : first;
    if (end > looked && (candidate === undefined || candidate.start >= end)) {
      looked = end;
      const more = foundAtStart(rules, text.slice(end, end + maxFormUnits));
      behind.push(...more.map((each) => ({ ...each, start: end + each.start, end: end + each.end })));
      behind.sort(byStart);
      continue;
    }
    if (candidate === undefined) return all;
    if (isLate) behind.shift();
    else next += 1;
    all.push(candidate);
    end = Math.max(end, candidate.end);
  }
}

function foundBy({ kind, spanOf }: Rule, text: string, match: RegExpExecArray): Found[] {
  const span = spanOf(text, match);
  return span ? [{ ...span, kind }] : [];
}

function foundAtStart(rules: readonly Rule[], text: string): Found[] {
  return rules.flatMap((rule) => {
    rule.sticky.lastIndex = 0;
    const match = rule.sticky.exec(text);
    return match === null ? [] : foundBy(rule, text, match);
  });
}
