// Replaces secrets by `[redacted:kind]` in everything that leaves the workstation: the one place that decides what is hidden.
// Must never put a found value into an error, a count or a log.

import { WaError } from '../../protocol/errors.ts';
import { type Found, findAll, patternRule, type Rule } from './redaction-rule.ts';
import { builtInRules } from './secrets.ts';

export interface RedactionOptions {
  /** Tokens of wa-sync: hidden everywhere, also percent-encoded. Values shorter than 8 units are ignored. */
  own: readonly string[];
  kinds: Readonly<Record<keyof typeof builtInRules, boolean>>;
  /** From the owner's config. The owner answers for their speed: a long text that takes too long stays here. */
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
/** Splits a text into what is looked at and, in between, the marks. */
const marks = /(\[redacted:[a-z0-9-]{1,32}(?:, \d{1,8} characters?)?\])/;
/** A new mark ends the word before it, so a second pass may find more. */
const maxLooks = 3;

/** Errors: `bad_config` for the first pattern that cannot be used. */
export function createRedactor({ own, kinds, patterns }: RedactionOptions): Redactor {
  const kindsOn = (Object.keys(builtInRules) as (keyof typeof builtInRules)[]).filter((kind) => kinds[kind]);
  const rules = [...ownTokenRules(own), ...kindsOn.flatMap((kind) => builtInRules[kind]), ...patterns.map(ownRule)];
  return (text, as) => {
    const look: Look = { rules, as, counts: {} };
    let current = text;
    for (let looks = 0; looks < maxLooks; looks++) {
      const pieces = current.split(marks);
      const next = pieces.map((piece, i) => (i % 2 === 0 ? redactBetween(look, piece) : piece)).join('');
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

/** Overlapping finds become one mark, named after the first rule in the table among the finds that begin first. */
function redactBetween({ rules, as, counts }: Look, text: string): string {
  if (text === '') return '';
  let found = findAll(rules, text);
  if (as === 'code') found = found.flatMap((each) => plainParts(text, each)).sort((a, b) => a.start - b.start);
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

/** A rule for each value, because two values may overlap. */
function ownTokenRules(values: readonly string[]): Rule[] {
  const wanted = values.filter((value) => value.length >= minOwnUnits);
  return [...new Set(wanted.flatMap((value) => [value, encodeURIComponent(value)]))].map((value) =>
    patternRule('own-token', new RegExp(value.replace(/[^A-Za-z0-9_]/g, '\\$&'), 'dg')),
  );
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
    return patternRule(name, new RegExp(source, `dg${flags}`));
  } catch (cause) {
    throw bad(`${name} is not a valid regular expression: ${cause instanceof Error ? cause.message : cause}`, cause);
  }
}

const plain = /[A-Za-z0-9+/=_.-]+/g;
/** Characters after which a shell may interpret a secret as something else. */
const active = /[\s$`(){};&|<>"'\\]/;

/** What may be hidden in a text that is about to run: plain characters of one word, up to the first active character. */
function plainParts(text: string, found: Found): Found[] {
  if (found.kind === 'private-key') return keyLines(text, found);
  const [word = ''] = text.slice(found.start, found.end).split(active, 1);
  return [...word.matchAll(plain)].map(({ index, 0: { length } }) => {
    const start = found.start + index;
    return { ...found, start, end: start + length };
  });
}

/** Shorter lines stay visible, because the name of a program looks like them. */
const keyLine = /[A-Za-z0-9+/]{32,}={0,2}/g;

/** The lines of nothing but base64, as a machine writes it. */
function keyLines(text: string, found: Found): Found[] {
  const { start, end } = found;
  return [...text.slice(start, end).matchAll(keyLine)].flatMap(({ index, 0: line }) => {
    // An escaped newline in a string on one line.
    const isEscape = text[start + index - 1] === '\\' && /^[nr]/.test(line);
    const from = start + index + (isEscape ? 1 : 0);
    const to = start + index + line.length;
    const before = text.slice(Math.max(start, from - 12), from);
    const after = text.slice(to, Math.min(end, to + 12));
    const isLine =
      (isEscape || /(?:[\r\n]|-----)[ \t"'>|+,]*$/.test(before)) && /^[ \t"',+]*(?:$|[\r\n\\-])/.test(after);
    const isMixed = /[A-Z]/.test(line) && /[a-z]/.test(line) && /\d/.test(line);
    return isLine && isMixed ? [{ ...found, start: from, end: to }] : [];
  });
}
