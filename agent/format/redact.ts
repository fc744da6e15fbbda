// Replaces secrets by `[redacted:kind]` in everything that leaves the workstation: the one place that decides what is hidden.
// Must never put a found value into an error, a count or a log. Loads no package: the hook fallback bundles it.

import { WaError } from '../../protocol/errors.ts';
import { cards, ibans, ssns } from './personal.ts';
import { plainParts } from './redaction-code.ts';
import { type Found, findAll, patternRule, type Rule, type Span } from './redaction-rule.ts';
import { secrets } from './secrets.ts';

export interface RedactionOptions {
  /** Tokens of wa-sync: hidden everywhere, also percent-encoded. Values shorter than 8 units are ignored. */
  own: readonly string[];
  kinds: { secrets: boolean; cards: boolean; iban: boolean; ssn: boolean };
  /** From the owner's config. The owner answers for their speed. */
  patterns: readonly OwnPattern[];
}

export interface OwnPattern {
  /** The kind that the mark shows: lower case letters, digits and dashes. */
  name: string;
  /** Source of a regular expression. */
  source: string;
  /** Any of i, m, s, u. */
  flags?: string;
}

export interface Redacted {
  text: string;
  /** Hidden places per kind; kinds without one are left out. */
  counts: Record<string, number>;
}

/**
 * A second call changes nothing. `code` = a text that a person approves before it runs: hides plain characters only and says
 * how many; everything that a shell could interpret stays visible.
 */
export type Redactor = (text: string, as?: 'code') => Redacted;

const minOwnUnits = 8;
const markPattern = /\[redacted:[a-z0-9-]{1,32}(?:, \d{1,8} characters?)?\]/g;
/** A new mark ends the word before it, so a second pass may find more. */
const maxLooks = 3;

/** Every built-in pattern. */
export const redactionPatterns: readonly { kind: string; pattern: RegExp }[] = [...secrets, cards, ibans, ssns].flatMap(
  ({ kind, patterns }) => patterns.map((pattern) => ({ kind, pattern })),
);

/** Errors: `bad_config` for the first pattern that cannot be used. */
export function createRedactor({ own, kinds, patterns }: RedactionOptions): Redactor {
  const rules = [
    exactRule(own),
    ...(kinds.secrets ? secrets : []),
    ...(kinds.cards ? [cards] : []),
    ...(kinds.iban ? [ibans] : []),
    ...(kinds.ssn ? [ssns] : []),
    ...patterns.map(ownRule),
  ];
  return (text, as) => {
    const look: Look = { rules, as, counts: {} };
    let current = text;
    for (let looks = 0; looks < maxLooks; looks++) {
      const next = redactOnce(look, current);
      if (next === current) break;
      current = next;
    }
    return { text: current, counts: look.counts };
  };
}

interface Look {
  rules: readonly Rule[];
  as: 'code' | undefined;
  counts: Record<string, number>;
}

function redactOnce(look: Look, text: string): string {
  let result = '';
  let from = 0;
  for (const mark of text.matchAll(markPattern)) {
    result += redactBetween(look, text.slice(from, mark.index)) + mark[0];
    from = mark.index + mark[0].length;
  }
  return result + redactBetween(look, text.slice(from));
}

/** Overlapping finds become one mark, named after the first rule in the table among the finds that begin first. */
function redactBetween({ rules, as, counts }: Look, text: string): string {
  if (text === '') return '';
  let found = findAll(rules, text);
  if (as === 'code') {
    const parts = ({ kind }: Found, spans: Span[]) => spans.map((span) => ({ ...span, kind }));
    found = found.flatMap((each) => parts(each, plainParts(text, each))).sort((a, b) => a.start - b.start);
  }
  let result = '';
  let from = 0;
  for (let i = 0; i < found.length; ) {
    const first = found[i] as Found;
    let { end } = first;
    while (i < found.length && (found[i] as Found).start < end) {
      end = Math.max(end, (found[i] as Found).end);
      i++;
    }
    result += text.slice(from, first.start) + markOf(first.kind, end - first.start, as);
    counts[first.kind] = (counts[first.kind] ?? 0) + 1;
    from = end;
  }
  return result + text.slice(from);
}

function markOf(kind: string, units: number, as: 'code' | undefined): string {
  if (as !== 'code') return `[redacted:${kind}]`;
  return `[redacted:${kind}, ${units} character${units === 1 ? '' : 's'}]`;
}

function exactRule(values: readonly string[]): Rule {
  const wanted = new Set(
    values.filter((value) => value.length >= minOwnUnits).flatMap((value) => [value, encodeURIComponent(value)]),
  );
  return {
    kind: 'own-token',
    patterns: [],
    find: (text) =>
      [...wanted].flatMap((value) => {
        const spans: Span[] = [];
        for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + value.length)) {
          spans.push({ start: at, end: at + value.length });
        }
        return spans;
      }),
  };
}

function ownRule({ name, source, flags = '' }: OwnPattern): Rule {
  const bad = (what: string, cause?: unknown) =>
    new WaError('bad_config', `The redaction pattern ${what}`, {
      hint: 'Correct redact.patterns in config.json.',
      cause,
    });
  if (!/^[a-z0-9-]{1,32}$/.test(name)) {
    throw bad(`name ${JSON.stringify(name)} must be 1 to 32 characters of a-z, 0-9 and -.`);
  }
  if (!/^[imsu]*$/.test(flags)) throw bad(`${name} has the flags ${JSON.stringify(flags)}; possible: i, m, s and u.`);
  try {
    const rule = patternRule(name, new RegExp(source, `dg${flags}`));
    return { ...rule, find: (text) => inPieces(text, rule.find) };
  } catch (cause) {
    throw bad(`${name} is not a valid regular expression: ${cause instanceof Error ? cause.message : cause}`, cause);
  }
}

const pieceUnits = 64 * 1024;
/** The most that a find may take, so that each find lies whole in one piece. */
const overlapUnits = 16 * 1024;

/** A pattern of the owner may be slower than linear, so it never sees a whole file. */
function inPieces(text: string, find: (piece: string) => Span[]): Span[] {
  const all: Span[] = [];
  for (let from = 0; ; from += pieceUnits - overlapUnits) {
    const isLast = from + pieceUnits >= text.length;
    // A find at a cut, or in the overlap, is judged in the piece that shows its surroundings.
    const isHere = ({ start }: Span) => (from === 0 || start > 0) && (isLast || start <= pieceUnits - overlapUnits);
    for (const span of find(text.slice(from, from + pieceUnits)).filter(isHere)) {
      all.push({ start: from + span.start, end: from + span.end });
    }
    if (isLast) return all;
  }
}
