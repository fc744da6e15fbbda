// The table of what redaction knows by its form: secrets, and numbers of people. The form of a secret must begin with a literal or at
// the edge of a word, have no quantifier inside a quantifier, and never match a git hash, a UUID or a plain name.

import { patternRule, type Rule, ruleOf, type Span } from './redaction-rule.ts';

// The edge of a word; an escaped newline (`\\n`) or a percent code before the word does not belong to the word.
const edge = '(?:(?<![A-Za-z0-9_-])|(?<=\\\\[nrt])|(?<=%[0-9A-F]{2}))';

/** Letter case does not count; `source` may name the group `secret`. */
function rule(kind: string, source: string, accept?: (value: string, key: string) => boolean): Rule {
  return patternRule(kind, new RegExp(source, 'gid'), accept);
}

/** Begins at the edge of a word; letter case counts. */
function exact(kind: string, source: string): Rule {
  return patternRule(kind, new RegExp(edge + source, 'gd'));
}

/** Parts of identifiers that say "the value is secret". */
const secretNames =
  'passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key|signing[_-]?key|encryption[_-]?key|credentials?|auth[_-]?key';

/** In order of precedence for two finds that begin at the same place. */
const secrets: readonly Rule[] = [
  ruleOf('private-key', /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g, privateKey),
  exact('bot-token', '(?:bot)?(?<secret>\\d{6,12}:[A-Za-z0-9_-]{33,40})(?![A-Za-z0-9_-])'),
  exact('github-token', '(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{30,255})'),
  exact('gitlab-token', '(?:gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|imt|ffct)|GR1348941)-?[A-Za-z0-9_-]{20,255}'),
  exact('anthropic-key', 'sk-ant-[A-Za-z0-9_-]{20,255}'),
  exact('openai-key', 'sk-(?=[A-Za-z_-]{0,60}\\d)[A-Za-z0-9_-]{32,255}'),
  exact('google-key', '(?:AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{20,40}|ya29\\.[A-Za-z0-9_-]{20,2048})'),
  exact('cloudflare-token', '(?:v1\\.0-[a-f0-9]{24}-[a-f0-9]{146}|cf(?:ut|at|k)_[A-Za-z0-9]{40,64})'),
  exact('aws-key', '(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])'),
  exact('slack-token', '(?:xox[abeoprs]-[A-Za-z0-9-]{10,255}|xapp-[A-Za-z0-9-]{20,255}|xoxe\\.[A-Za-z0-9.-]{20,255})'),
  rule('slack-webhook', 'hooks\\.slack\\.com/(?:services|workflows)/(?<secret>[A-Za-z0-9/_-]{20,255})'),
  exact('stripe-key', '(?:[srp]k_(?:live|test)_[A-Za-z0-9]{16,255}|whsec_[A-Za-z0-9+/=]{24,255})'),
  exact('npm-token', 'npm_[A-Za-z0-9]{36,64}'),
  exact('pypi-token', 'pypi-[A-Za-z0-9_-]{50,512}'),
  exact('hugging-face-token', 'hf_[A-Za-z0-9]{30,64}'),
  exact('sendgrid-key', 'SG\\.[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{32,64}'),
  exact('jwt', 'eyJ[A-Za-z0-9_-]{8,8192}\\.[A-Za-z0-9_-]{8,16384}\\.[A-Za-z0-9_-]{0,2048}'),
  rule('authorization', '\\b(?:bearer|basic)\\s{1,4}(?<secret>[A-Za-z0-9._~+/-]{12,8192}={0,2})', isOpaque),
  rule(
    'authorization',
    'authorization["\']?\\s{0,4}[:=]\\s{0,4}["\']?(?:bearer|basic|token|digest)\\s{1,4}(?<secret>[A-Za-z0-9._~+/:-]{8,8192}={0,2})',
    isNoPlaceholder,
  ),
  rule(
    'authorization',
    'authorization["\']?\\s{0,4}[:=]\\s{0,4}["\']?(?<secret>[A-Za-z0-9._~+/:-]{12,8192}={0,2})',
    isOpaque,
  ),
  rule(
    'curl-user',
    '\\bcurl\\b[^\\n]{0,200}?\\s(?:-u|--user)[\\s=]{1,4}["\']?[^\\s:"\']{1,64}:(?<secret>[^\\s"\']{4,256})',
    isNoPlaceholder,
  ),
  rule(
    'url-password',
    '(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,20}://[^\\s/:@"\'<>]{0,256}:(?<secret>[^\\s/@"\'<>]{1,256})@',
    isNoPlaceholder,
  ),
  rule(
    'cookie',
    '(?:set-)?cookie["\']?\\s{0,4}:\\s{0,4}[A-Za-z0-9_.-]{1,64}=(?<secret>[A-Za-z0-9%+/_.=-]{16,4096})',
    isOpaque,
  ),
  // NAME=value of a shell or an env file has no other meaning, so any value counts.
  patternRule(
    'secret',
    /(?<key>(?:PASSW(?:OR)?D|PASSPHRASE|SECRET|TOKEN|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIALS?)[A-Z0-9_]{0,24})=["']?(?<secret>[^\s"'`,;(){}<>[\]$&|]{6,})/dg,
    (value, key) => isSecretName(key) && isNoPlaceholder(value) && !(/TOKENS/.test(key) && /^\d+$/.test(value)),
  ),
  rule(
    'secret',
    `(?<key>(?:${secretNames})[A-Z0-9_]{0,24})=(?<secret>[^\\s"'\`,;(){}<>\\[\\]$&|]{8,})`,
    (value, key) => isSecretName(key) && isMixed(value),
  ),
  rule(
    'secret',
    `(?<key>(?:${secretNames})[A-Z0-9_-]{0,24})\\\\?["'\`]?\\s{0,3}(?::=|=>|:|=)\\s{0,3}\\\\?["'\`](?<secret>[^\\s"'\`\\\\]{8,})`,
    (value, key) => isSecretName(key) && isMixed(value),
  ),
  rule(
    'secret',
    `(?<key>(?:${secretNames})[A-Z0-9_-]{0,24})["'\`]?\\s{0,3}(?::=|=>|:|=|\\bis\\b)\\s{0,3}(?<secret>[^\\s"'\`,;(){}<>\\[\\]$&|]{8,})`,
    (value, key) => isSecretName(key) && isOpaque(value),
  ),
];

/** False for names of something about a secret, such as `token_count` or `secretName`. */
function isSecretName(key: string): boolean {
  return !/(?:_?(?:count|counts|limit|limits|length|size|type|kind|name|names|url|uri|endpoint|file|path|dir|version|ttl|expiry|expires|expires_?(?:at|in)|usage|budget|izer|ize|ized|less|arn|id|field|policy|hint|regex|pattern|schema|index))$/i.test(
    key,
  );
}

/** A value that a person or a machine chose as a secret: not a word, not a reference to something else. */
function isMixed(value: string): boolean {
  if (!isNoPlaceholder(value)) return false;
  return /\d/.test(value) && /[A-Za-z]/.test(value) && bitsPerCharacter(value) >= 2.5;
}

/** A value that only a machine makes: long enough, digits among the letters, no structure of words or of a path. */
function isOpaque(value: string): boolean {
  if (!isMixed(value) || value.length < 12) return false;
  const isReference = /^[A-Za-z_$][A-Za-z0-9_$]*(?:\.[A-Za-z_$][A-Za-z0-9_$]*)+$/.test(value) && value.length < 40;
  const isName = /^(?:[A-Za-z]+[_-])*[A-Za-z]+\d{1,2}$/.test(value);
  return !isReference && !isName && bitsPerCharacter(value) >= 3;
}

/** False for a reference to a value in another place and for a placeholder. */
function isNoPlaceholder(value: string): boolean {
  // A path; but a key of AWS has 40 characters and may begin with a slash.
  if (/^(?:\.{0,2}|~)\/(?![A-Za-z0-9+/]{39}$)/.test(value)) return false;
  if (/^(?:[$<{%[]|\*+$|\.{3}|x{4,}|process\.env|import\.meta|os\.environ|env\.|https?:|file:)/i.test(value))
    return false;
  return value.length >= 32 || !/change[_-]?me|placeholder|example|redacted|your[_-]|dummy|xxxx|\*{4}/i.test(value);
}

/** Shannon entropy of the first characters. */
function bitsPerCharacter(value: string): number {
  const sample = value.slice(0, 128);
  const seen = new Map<string, number>();
  for (const character of sample) seen.set(character, (seen.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of seen.values()) bits -= (count / sample.length) * Math.log2(count / sample.length);
  return bits;
}

const maxKeyUnits = 64 * 1024;

/** From BEGIN to END; when END is missing (the text was cut), the lines after BEGIN that look like a key. */
function privateKey(text: string, { index: start, 0: begin }: RegExpExecArray): Span {
  const from = start + begin.length;
  const edges = /-----(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
  edges.lastIndex = from;
  // Looks no further than the next BEGIN, so that all keys together take one pass.
  const [edge, which] = edges.exec(text) ?? [];
  if (edge && which === 'END' && edges.lastIndex - from <= maxKeyUnits) return { start, end: edges.lastIndex };
  const keyLine =
    /(?:\s|\\[rn]|[>|"'+,]){0,12}(?:[A-Za-z0-9+/]{16,}={0,2}|(?:Proc-Type|DEK-Info|Version|Comment|Hash): ?[^\n]{0,200}|[A-Za-z0-9+/]{1,15}={0,2}(?=\s*$))/y;
  let end = from;
  keyLine.lastIndex = from;
  while (keyLine.test(text)) end = keyLine.lastIndex;
  return { start, end };
}

/** The rules of each kind that a config can name. A number of a person whose checksum is wrong stays visible. */
export const builtInRules: Record<'secrets' | 'cards' | 'iban' | 'ssn', readonly Rule[]> = {
  secrets,
  // 13 to 19 digits of a known card network, single or grouped by blanks or dashes, right by Luhn.
  cards: [
    patternRule('card', /(?<![\d.-])\d(?:[ -]?\d){12,18}(?!\d)/dg, (value) => isCardNumber(value.replace(/\D/g, ''))),
  ],
  // In one piece or in groups, right by mod 97.
  iban: [ruleOf('iban', /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}(?![A-Za-z0-9])/g, ibanIn)],
  // With two equal separators; without them it is any number.
  ssn: [patternRule('ssn', /(?<![\d-])(?!000|666|9\d\d)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?![\d-])/dg)],
};

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

/** Words in capitals may follow the number. */
function ibanIn(_text: string, { index: start, 0: candidate }: RegExpExecArray): Span | undefined {
  for (let length = candidate.length; length >= 15; length--) {
    const isGroupEnd = length === candidate.length || candidate[length] === ' ';
    if (isGroupEnd && mod97(candidate.slice(0, length).replaceAll(' ', '')) === 1n)
      return { start, end: start + length };
  }
  return undefined;
}

function mod97(iban: string): bigint {
  const digits = Array.from(iban.slice(4) + iban.slice(0, 4), (character) => Number.parseInt(character, 36));
  return BigInt(digits.join('')) % 97n;
}
