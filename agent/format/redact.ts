// Replaces secrets by `[redacted:kind]` in everything that leaves the workstation: the one place that decides what is hidden.
// Must never put a found value into an error, a count or a log. Loads no package: the hook fallback bundles it.

import { WaError } from '../../protocol/errors.ts';
import { cards, ibans, ssns } from './personal.ts';
import type { Rule, Span } from './redaction-rule.ts';
import { patternRule } from './redaction-rule.ts';
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

/** Hiding again changes nothing. */
export type Redactor = (text: string) => Redacted;

const minOwnUnits = 8;
const markPattern = /\[redacted:[a-z0-9-]{1,32}\]/g;

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
  return { ok: true, redact: (text) => redactWith(rules, text) };
}

/** Like `compileRedaction`, for patterns that were checked before; throws the first `bad_config`. */
export function createRedactor(options: RedactionOptions): Redactor {
  const compiled = compileRedaction(options);
  if (compiled.ok) return compiled.redact;
  throw compiled.errors[0];
}

function redactWith(rules: readonly Rule[], text: string): Redacted {
  const counts: Record<string, number> = {};
  let current = text;
  // A mark can lay bare what its neighbour hid (a number right after a token), so look until nothing is found.
  // Each round shortens what is not a mark, which ends it.
  for (;;) {
    const next = redactOnce(rules, current, counts);
    if (next === current) return { text: current, counts };
    current = next;
  }
}

function redactOnce(rules: readonly Rule[], text: string, counts: Record<string, number>): string {
  let result = '';
  let from = 0;
  for (const mark of text.matchAll(markPattern)) {
    result += redactBetween(rules, text.slice(from, mark.index), counts) + mark[0];
    from = mark.index + mark[0].length;
  }
  return result + redactBetween(rules, text.slice(from), counts);
}

/** Overlapping finds are hidden as one, under the name of the first rule of the table among those that begin first. */
function redactBetween(rules: readonly Rule[], text: string, counts: Record<string, number>): string {
  if (text === '') return '';
  const found = rules.flatMap((rule) => rule.find(text).map((span) => ({ ...span, kind: rule.kind })));
  if (found.length === 0) return text;
  found.sort((a, b) => a.start - b.start);
  let result = '';
  let from = 0;
  for (let i = 0; i < found.length; ) {
    const first = found[i] as (typeof found)[number];
    let { end } = first;
    while (i < found.length && (found[i] as Span).start < end) {
      end = Math.max(end, (found[i] as Span).end);
      i++;
    }
    result += `${text.slice(from, first.start)}[redacted:${first.kind}]`;
    counts[first.kind] = (counts[first.kind] ?? 0) + 1;
    from = end;
  }
  return result + text.slice(from);
}

function exactRule(values: readonly string[]): Rule {
  const wanted = new Set(
    values.filter((value) => value.length >= minOwnUnits).flatMap((value) => [value, encodeURIComponent(value)]),
  );
  return {
    kind: 'own-token',
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
    return patternRule(name, new RegExp(source, `dg${flags}`));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new WaError('bad_config', `The redaction pattern ${name} is no regular expression: ${reason}`, {
      hint,
      cause,
    });
  }
}
