// What is wrong with a policy, in the words of its file: the key as it is reached, what it must be, what was found. Pure.

import type { BaseIssue } from 'valibot';

type Issue = BaseIssue<unknown>;

/** `"rules[0].do" must be one of "ask", "deny", found "aks"`: the first mistake, an unknown key before what it leaves missing. */
export function policyMistake(issues: readonly [Issue, ...Issue[]]): string {
  const issue = innermost(issues.find(isUnknownKey) ?? issues[0]);
  const where = issue.keys.reduce<string>(
    (path, key) => (typeof key === 'number' ? `${path}[${key}]` : path === '' ? String(key) : `${path}.${String(key)}`),
    '',
  );
  return where === '' ? 'the whole must be an object' : `"${where}" ${wordsOf(issue)}`;
}

/** For the schema of an object, whose keys no issue tells. */
export function keyWords(known: readonly string[]): (issue: Issue) => string {
  return (issue) => (isUnknownKey(issue) ? `is not a known key; expected one of ${known.join(', ')}` : wordsOf(issue));
}

interface PlacedIssue extends Issue {
  keys: readonly unknown[];
}

/** Of what may be a text or an object, an object is measured as one. */
function innermost(issue: Issue, above: readonly unknown[] = []): PlacedIssue {
  const keys = [...above, ...(issue.path ?? []).map(({ key }) => key)];
  const isObject = typeof issue.input === 'object' && issue.input !== null && !Array.isArray(issue.input);
  const ofObject = issue.type === 'union' && isObject ? issue.issues?.filter(({ type }) => type !== 'string') : [];
  const inner = ofObject?.find(isUnknownKey) ?? ofObject?.[0];
  return inner ? innermost(inner, keys) : { ...issue, keys };
}

function isUnknownKey({ type, expected }: Issue): boolean {
  return type === 'strict_object' && expected === 'never';
}

function wordsOf(issue: Issue): string {
  const { type, input, requirement } = issue;
  if (type === 'check') return issue.message;
  if (isUnknownKey(issue)) return issue.message;
  if (type === 'strict_object' && issue.expected !== 'Object') return 'is missing';
  if (type === 'min_length') return 'must not be empty';
  if (type === 'max_length')
    return `must have at most ${requirement} ${Array.isArray(input) ? 'entries' : 'characters'}`;
  const listed = issue.expected?.replace(/^\(|\)$/g, '').replaceAll(' | ', ', ');
  const must: Record<string, string> = {
    string: 'a text',
    array: 'an array',
    boolean: 'true or false',
    number: 'a whole number',
    safe_integer: 'a whole number',
    min_value: `at least ${requirement}`,
    max_value: `at most ${requirement}`,
    picklist: `${issue.expected?.includes(' | ') ? 'one of ' : ''}${listed}`,
    regex: 'a text of digits only',
    union: 'a text or an object',
  };
  return `must be ${must[type] ?? 'an object'}, found ${shown(input)}`;
}

const shownChars = 40;

/** A short text or a number as it is, since it may be mistyped; of anything else only the kind. */
function shown(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number' || (typeof value === 'string' && value.length <= shownChars))
    return JSON.stringify(value);
  return typeof value === 'object' ? 'an object' : typeof value === 'string' ? 'a text' : `${value}`;
}
