// Every regular expression of the product, found in its sources, over texts made to be slow for it: made of its own words and
// characters, repeated. Its time may grow as the text; what the built-in redaction makes of several parts is looked at as a whole.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { builtInRules } from '../agent/format/secrets.ts';

const root = join(import.meta.dirname, '..');
/** `agent/dev` beside the phone's page is the test bench of a developer, which nobody else writes to. */
const folders = ['agent', 'hooks', 'protocol', 'worker'];

/** Not linear, and never given a long text: with the place that bounds it. */
const bounded: Readonly<Record<string, string>> = {
  [String(/(?:\b(?:e\.g|i\.e|etc|vs|cf|no|approx)|(?:^|\n)\s*\d+)\.$/i)]: 'summary.ts gives it twelve characters',
};

interface Expression {
  place: string;
  regex: RegExp;
}

function expressionsOf(): Expression[] {
  const found = new Map<string, Expression>();
  const add = (place: string, regex: RegExp) => {
    if (!found.has(String(regex))) found.set(String(regex), { place, regex });
  };
  for (const folder of folders) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!/\.(ts|js)$/.test(name) || name.startsWith(join('dev', 'telegram-sim'))) continue;
      const text = readFileSync(join(root, folder, name), 'utf8');
      const source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
      const visit = (node: ts.Node): void => {
        if (ts.isRegularExpressionLiteral(node)) {
          const end = node.text.lastIndexOf('/');
          const { line } = source.getLineAndCharacterOfPosition(node.getStart());
          add(`${folder}/${name}:${line + 1}`, new RegExp(node.text.slice(1, end), node.text.slice(end + 1)));
        }
        ts.forEachChild(node, visit);
      };
      visit(source);
    }
  }
  for (const { kind, pattern } of Object.values(builtInRules).flat()) add(`redaction of ${kind}`, pattern);
  return [...found.values()];
}

/** What the pattern speaks of: its words, a character of each class, and each of the alternatives in a row. */
function wordsOf(source: string): string[] {
  const plain = source
    .replace(/\\[dD]/g, '1')
    .replace(/\\[wbB]/g, 'a')
    .replace(/\\s/g, ' ')
    .replace(/\\n/g, '\n')
    .replace(/\\[pP]\{[^}]*\}/g, 'a')
    .replace(/\\u\{?[0-9a-f]{4,6}\}?/gi, 'a')
    .replace(/\(\?(?:<?[=!]|:|<\w+>)/g, '(')
    .replace(/\[\^[^\]]*\]/g, 'a')
    .replace(/\[((?:\\.|[^\]\\])+)\]/g, (_all, chars: string) => chars.replace(/\\(.)/g, '$1')[0] ?? '')
    .replace(/\{\d+(?:,\d*)?\}/g, '');
  const parts = plain.split(/\\(.)|[()|*+?^$]/).flatMap((part) => (part ? [part] : []));
  const chars = [...new Set(plain.replace(/[\\()|*+?^$]/g, ''))].slice(0, 12);
  const whole = plain.replace(/\\(.)|[()|*+?^$]/g, (_all, char?: string) => char ?? '');
  return [...new Set([whole, ...parts.slice(0, 12), ...chars])].filter((word) => word !== '');
}

const usual = [
  ' ',
  'a',
  '1',
  '\n',
  '-',
  '"',
  '\\',
  '/',
  '<',
  '[',
  '(',
  '.',
  '_',
  'aA1',
  'a ',
  '1 ',
  '"a',
  'a=',
  '\r\n',
  ' a\n',
];

function textsFor(regex: RegExp): ((chars: number) => string)[] {
  const words = wordsOf(regex.source);
  const first = words[0] ?? '';
  const repeated = [...new Set([...words, ...usual])].flatMap((word) => [
    (chars: number) => word.repeat(Math.ceil(chars / word.length)),
    (chars: number) => `${first}${word.repeat(Math.ceil(chars / word.length))}\u0000`,
  ]);
  const [, ...rest] = words;
  const begun = rest
    .slice(0, 6)
    .flatMap((begin) =>
      [...rest.slice(0, 6), ' ', 'a', '1'].map(
        (word) => (chars: number) => `${begin}${word.repeat(Math.ceil(chars / word.length))}!`,
      ),
    );
  return [...repeated, ...begun];
}

/** From so little that what doubles with each character still comes to its end. */
const sizes = [12, 24, 36, 60, 100, 400, 2_000, 8_000, 32_000];
/** For four or five times the text; its square takes sixteen or more. */
const allowedGrowth = 8;
/** What takes less for the largest text does no harm. A linear one needs a tenth of it. */
const harmlessMs = 15;
/** Of the last size but one: neither its square nor its cube reaches what harms. */
const [enough, hopelessMs] = [8_000, harmlessMs / 80];
const looks = 3;

function work({ regex }: Expression, text: string): void {
  regex.lastIndex = 0;
  if (regex.global) text.replace(regex, '');
  else regex.test(text);
  regex.lastIndex = 0;
}

function cpuMs(of: () => void): number {
  const startedAt = process.cpuUsage();
  of();
  const { user, system } = process.cpuUsage(startedAt);
  return (user + system) / 1_000;
}

function shortest(of: () => void): number {
  return Math.min(...Array.from({ length: looks }, () => cpuMs(of)));
}

/** The first text for which the time grows faster than it; undefined = none was found. */
function growthOf(expression: Expression): string | undefined {
  for (const make of textsFor(expression.regex)) {
    const run = (chars: number) => {
      const text = make(chars);
      return () => work(expression, text);
    };
    for (const [at, chars] of sizes.entries()) {
      const ms = cpuMs(run(chars));
      const few = sizes[at - 1];
      if (ms <= harmlessMs || few === undefined) {
        if (chars === enough && ms < hopelessMs) break;
        continue;
      }
      const [less, more] = [shortest(run(few)), shortest(run(chars))];
      if (more <= harmlessMs || more <= allowedGrowth * less) continue;
      return `${less.toFixed(1)} ms, then ${more.toFixed(1)} ms for ${chars} characters of ${JSON.stringify(make(30)).slice(0, 60)}`;
    }
  }
  return undefined;
}

it('every regular expression of the product takes time as its text', () => {
  const expressions = expressionsOf();
  expect(expressions.length).toBeGreaterThan(300);
  const sources = expressions.map(({ regex }) => String(regex));
  expect(Object.keys(bounded).filter((each) => !sources.includes(each))).toEqual([]);
  const found = expressions
    .filter(({ regex }) => !(String(regex) in bounded))
    .flatMap((expression) => {
      const growth = growthOf(expression);
      return growth === undefined ? [] : [`${expression.place} ${expression.regex}: ${growth}`];
    });
  expect(found).toEqual([]);
});

it('an expression that looks back for each character is found', () => {
  const expressions = [/(a+)+$/, /\s+$/, /[a-z]+@/g, /<[^>]*>/g, /<[^<>]*>/g, /\bstop\b/i];
  const found = expressions.filter((regex) => growthOf({ place: 'here', regex }) !== undefined);
  expect(found).toEqual([/(a+)+$/, /\s+$/, /[a-z]+@/g, /<[^>]*>/g]);
});
