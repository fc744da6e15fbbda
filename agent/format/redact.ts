// Replaces secrets by `[redacted:kind]` in everything that leaves the workstation: the one place that decides what is hidden.
// Must never put a found value into an error, a count or a log. Loads no package: the hook fallback bundles it.

import { WaError } from '../../protocol/errors.ts';
import { cards, ibans, ssns } from './personal.ts';
import { plainParts } from './redaction-code.ts';
import type { Rule, Span } from './redaction-rule.ts';
import { patternRule } from './redaction-rule.ts';
import { type Found, findAll } from './redaction-scan.ts';
import { secrets } from './secrets.ts';

export interface RedactionOptions {
  /** Our own tokens: hidden wherever they stand, also percent-encoded. Shorter than 8 units are ignored. */
  own: readonly string[];
  kinds: { secrets: boolean; cards: boolean; iban: boolean; ssn: boolean };
  /** Of the owner's config. Their speed is the owner's business. */
  patterns: readonly OwnPattern[];
}

export interface OwnPattern {
  /** What stands in the mark: lower case letters, digits and dashes. */
  name: string;
  /** Source of a regular expression. */
  source: string;
  /** Of i, m, s, u. */
  flags?: string;
}

export interface Redacted {
  text: string;
  /** How many places of each kind were hidden now; kinds with none are left out. */
  counts: Record<string, number>;
}

/**
 * Hiding again changes nothing. `code` = of a text that somebody approves before it runs: hides plain characters only, and says
 * how many; whatever a shell could read stays visible.
 */
export type Redactor = (text: string, as?: 'code') => Redacted;

const minOwnUnits = 8;
const markPattern = /\[redacted:[a-z0-9-]{1,32}(?:, \d{1,8} characters?)?\]/g;
/** A mark is no part of a word, so it can also lay bare what ends before it: a second look finds that, and each look is one pass. */
const maxLooks = 3;

/** Every pattern that is built in. */
export const redactionPatterns: readonly { kind: string; pattern: RegExp }[] = [...secrets, cards, ibans, ssns].flatMap(
  ({ kind, patterns }) => patterns.map((pattern) => ({ kind, pattern })),
);

/** The redactor, or one `bad_config` error for each pattern that cannot be used. */
export function compileRedaction(
  options: RedactionOptions,
): { ok: true; redact: Redactor } | { ok: false; errors: WaError[] } {
  const errors: WaError[] = [];
  const own: Rule[] = [];
  for (const pattern of options.patterns) {
    const rule = ownRule(pattern);
    if (rule instanceof WaError) errors.push(rule);
    else own.push(rule);
  }
  if (errors.length > 0) return { ok: false, errors };
  const { kinds } = options;
  const rules = [
    exactRule(options.own),
    ...(kinds.secrets ? secrets : []),
    ...(kinds.cards ? [cards] : []),
    ...(kinds.iban ? [ibans] : []),
    ...(kinds.ssn ? [ssns] : []),
    ...own,
  ];
  return { ok: true, redact: (text, as) => redactWith(rules, text, as) };
}

/** Like `compileRedaction`, for patterns that were checked before; throws the first `bad_config`. */
export function createRedactor(options: RedactionOptions): Redactor {
  const compiled = compileRedaction(options);
  if (compiled.ok) return compiled.redact;
  throw compiled.errors[0];
}

function redactWith(rules: readonly Rule[], text: string, as: 'code' | undefined): Redacted {
  const counts: Record<string, number> = {};
  let current = text;
  for (let looks = 0; looks < maxLooks; looks++) {
    const next = redactOnce(rules, current, counts, as);
    if (next === current) break;
    current = next;
  }
  return { text: current, counts };
}

function redactOnce(
  rules: readonly Rule[],
  text: string,
  counts: Record<string, number>,
  as: 'code' | undefined,
): string {
  let result = '';
  let from = 0;
  for (const mark of text.matchAll(markPattern)) {
    result += redactBetween(rules, text.slice(from, mark.index), counts, as) + mark[0];
    from = mark.index + mark[0].length;
  }
  return result + redactBetween(rules, text.slice(from), counts, as);
}

/** Overlapping finds are hidden as one, under the name of the first rule of the table among those that begin first. */
function redactBetween(
  rules: readonly Rule[],
  text: string,
  counts: Record<string, number>,
  as: 'code' | undefined,
): string {
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

function ownRule(pattern: OwnPattern): Rule | WaError {
  const { name, source, flags = '' } = pattern;
  const hint = 'Correct redact.patterns in config.json.';
  if (!/^[a-z0-9-]{1,32}$/.test(name)) {
    return new WaError(
      'bad_config',
      `The redaction pattern name ${JSON.stringify(name)} is not made of 1 to 32 of a-z, 0-9 and -.`,
      { hint },
    );
  }
  if (!/^[imsu]*$/.test(flags)) {
    return new WaError(
      'bad_config',
      `The redaction pattern ${name} has flags ${JSON.stringify(flags)}; only i, m, s and u have a meaning.`,
      { hint },
    );
  }
  try {
    const rule = patternRule(name, new RegExp(source, `dg${flags}`));
    return { ...rule, find: (text) => inPieces(text, rule.find) };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new WaError('bad_config', `The redaction pattern ${name} is no regular expression: ${reason}`, {
      hint,
      cause,
    });
  }
}

const pieceUnits = 64 * 1024;
/** No find is longer; it lies whole in one piece or in the next. */
const overlapUnits = 16 * 1024;

/** A pattern of the owner may take longer than linear, but not of a whole file. */
function inPieces(text: string, find: (piece: string) => Span[]): Span[] {
  const all: Span[] = [];
  for (let from = 0; ; from += pieceUnits - overlapUnits) {
    const isLast = from + pieceUnits >= text.length;
    // What begins at a cut, or in what the next piece begins with, is judged where its surroundings are.
    const isHere = ({ start }: Span) => (from === 0 || start > 0) && (isLast || start <= pieceUnits - overlapUnits);
    for (const span of find(text.slice(from, from + pieceUnits)).filter(isHere)) {
      all.push({ start: from + span.start, end: from + span.end });
    }
    if (isLast) return all;
  }
}
