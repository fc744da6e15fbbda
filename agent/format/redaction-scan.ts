// Finds every place that a table of rules hides, in one pass: what the end of a hidden place lays bare is looked at there and
// then, so that the work grows with the text alone. Must never keep what it found.

import type { Rule, Span } from './redaction-rule.ts';

export interface Found extends Span {
  kind: string;
}

/** Zero-width and formatting characters: whoever reads the text does not see them, so they keep no two halves apart. */
const invisible = /\p{Default_Ignorable_Code_Point}+/gu;

/** In order of their starts; they may overlap. */
export function findAll(rules: readonly Rule[], text: string): Found[] {
  const found = scan(rules, text);
  /** Where each visible stretch begins, in the text and in what is seen of it. */
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
    // The next one may begin before this one ends.
    last = lastOfStart;
  }
  return found.sort(byStart);
}

function byStart(a: Span, b: Span): number {
  return a.start - b.start;
}

/** No form is longer, so a look at one place needs no more of the text. */
const maxFormUnits = 64 * 1024;

function scan(rules: readonly Rule[], text: string): Found[] {
  const everywhere = rules.flatMap((rule) => rule.find(text).map((span) => ({ ...span, kind: rule.kind })));
  everywhere.sort(byStart);
  const all: Found[] = [];
  let next = 0;
  /** Found at the end of a hidden place only; few, because a form is short. */
  let behind: Found[] = [];
  /** Up to here the text is hidden. */
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
