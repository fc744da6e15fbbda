// Numbers of people that have a checksum or a fixed form: payment cards, IBANs, US social security numbers.
// Must never hide a number whose checksum is wrong.

import type { Rule, Span } from './redaction-rule.ts';
import { atStart, patternRule } from './redaction-rule.ts';

/** 13 to 19 digits of a known card network, single or grouped by blanks or dashes, right by Luhn. */
export const cards: Rule = patternRule('card', /(?<![\d.-])\d(?:[ -]?\d){12,18}(?!\d)/dg, (value) =>
  isCardNumber(value.replace(/\D/g, '')),
);

/** Right by mod 97, in one piece or in groups. */
const ibanForm = /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}(?![A-Za-z0-9])/g;
export const ibans: Rule = {
  kind: 'iban',
  patterns: [ibanForm],
  find: (text) => [...text.matchAll(ibanForm)].flatMap((match) => ibanIn(text, match) ?? []),
  findFirst: atStart(ibanForm, ibanIn),
};

function ibanIn(_text: string, { index, 0: candidate }: RegExpExecArray): Span | undefined {
  const length = ibanLength(candidate);
  return length > 0 ? { start: index, end: index + length } : undefined;
}

/** With two equal separators; without them it is any number. */
export const ssns: Rule = patternRule(
  'ssn',
  /(?<![\d-])(?!000|666|9\d\d)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?![\d-])/dg,
);

function isCardNumber(digits: string): boolean {
  const network =
    /^(?:4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|3[068]\d{12}|35\d{14}|6\d{15,18})$/;
  if (!network.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** How much of the candidate is an IBAN; words in capitals may follow it. 0: none. */
function ibanLength(candidate: string): number {
  for (let end = candidate.length; end >= 15; end--) {
    const isGroupEnd = end === candidate.length || candidate[end] === ' ';
    if (isGroupEnd && mod97(candidate.slice(0, end).replaceAll(' ', '')) === 1) return end;
  }
  return 0;
}

function mod97(iban: string): number {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest;
}
