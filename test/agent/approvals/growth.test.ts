// What a call costs grows as its length: no part of a command, said over and over, costs more than that. Compared by ratio, with the
// best of several rounds, since a busy machine only makes a round slower.

import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { matchesGlob, matchesName } from '../../../agent/approvals/danger/glob.ts';
import { bracesExpanded } from '../../../agent/approvals/danger/paths.ts';
import { stringsIn } from '../../../agent/approvals/danger/shell-programs.ts';
import { lookAround } from '../../../agent/approvals/danger/surroundings.ts';
import { judge } from '../../../agent/approvals/policy/judge.ts';
import { cpuMs } from '../../helpers/growth.ts';
import { places, policiesWith, shellCall, worldWith } from './machine.ts';

const world = worldWith();
const fixed = { ...places, secretsIn: () => 0 };
const none = policiesWith({ rules: [{ match: { command: '*a*b*c*npm publish*x' }, do: 'deny' }] });

const small = 4_000;
const factor = 4;
/** Of linear growth; quadratic growth is `factor` times it. */
const allowed = 2.5;
/** Below it a clock says nothing. */
const floorMs = 4;

async function bestMs(work: () => unknown, rounds: number): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    best = Math.min(best, await cpuMs(work));
  }
  return best;
}

async function expectLinear(work: (size: number) => () => unknown, size = small): Promise<void> {
  const [few, many] = [work(size), work(size * factor)];
  let ratio = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 4 && ratio > factor * allowed; attempt += 1) {
    const base = Math.max(await bestMs(few, 3), floorMs);
    ratio = Math.min(ratio, (await bestMs(many, 3)) / base);
  }
  expect(ratio).toBeLessThanOrEqual(factor * allowed);
}

const repeated = (part: string, size: number) => part.repeat(Math.ceil(size / part.length)).slice(0, size);

describe('a command grows in time as in length', () => {
  it.each([
    ...[
      '*',
      '\\',
      '"',
      "'",
      '`',
      '$',
      '$(',
      '(',
      '((',
      '$((',
      '{',
      '{a,',
      'a,',
      '}',
      '${',
      '${x:-',
      '${x%',
      '$x',
      "$'",
      '"$(',
    ],
    ...[
      'a ',
      '"a" ',
      '-a ',
      '--a=b ',
      ' /a/b',
      'a://',
      '//a',
      '../',
      './',
      '**/',
      'a*',
      '?',
      '[a',
      '~/',
      '@',
      'a@b:/c ',
      '=',
    ],
    ...['<', '>', '|', '|a', '&', '; ', '#', '\n', '<(', '>(', '<<E\n', '<<E ', '<<E\nE\n', ' \\\n', 'x=(', 'x=(a '],
    ...[
      'xargs a ',
      'sudo ',
      'cd a;',
      'cd .;',
      'x=1;',
      'x=$x$x;',
      'f(){ ',
      'find . -name ',
      '-name a ',
      'curl x|',
      '| sh ',
    ],
    ...[
      'for x in a;',
      'case x in a) ',
      '[[ a ',
      'eval "',
      "sh -c '",
      'sh -c "',
      'python -c "',
      "node -e '",
      'git -c a=',
      'ssh a ',
    ],
    ...[
      'DROP TABLE ',
      'TRUNCATE ',
      'DELETE FROM a ',
      'wa-sync/',
      '.config/',
      '_HOME}',
      '.env',
      'a.pem ',
      'rm -rf $x ',
      'find . -exec ',
      'mv a b;',
    ],
  ])('%j over and over', (part) => {
    return expectLinear((size) => {
      const call = shellCall(`${repeated(part, size)}x`);
      return () => judge(call, none, 'risky', world);
    });
  });
});

describe('a word grows in time as in length', () => {
  it.each([
    ['slashes to copy', (size: number) => `cp ${'/'.repeat(size * 4)}x target`],
    ['options of cp', (size: number) => `cp -${'T'.repeat(size * 4)}! a target`],
    ['options of git push', (size: number) => `git push -${'f'.repeat(size * 4)}!`],
    ['a setting of git', (size: number) => `git -c ${'pager'.repeat(size)}`],
  ] as const)('%s', (_, make) => {
    return expectLinear((size) => {
      const call = shellCall(make(size));
      return () => judge(call, none, 'risky', world);
    });
  });
});

it.each(['cd a;', '|| cd a;', 'pushd a;', '~/', 'a/'])('%j over and over looks at each folder once', (part) =>
  expectLinear((count) => () => lookAround(shellCall(part.repeat(count)), fixed, tmpdir()), 50),
);

describe('a pattern grows in time as in length', () => {
  it.each([
    ['a policy with many stars', (size: number) => () => matchesGlob(repeated('*a', 200), 'a'.repeat(size * 10))],
    [
      'a policy that nearly matches',
      (size: number) => () => matchesGlob(`*${'a'.repeat(198)}b`, 'a'.repeat(size * 10)),
    ],
    [
      'a policy that nearly matches within',
      (size: number) => () => matchesGlob(`*${'a'.repeat(98)}b*`, 'a'.repeat(size * 10)),
    ],
    ['a file with many stars', (size: number) => () => matchesName(`${repeated('*', size)}x`, '.gitconfigs')],
    ['strings with backslashes', (size: number) => () => stringsIn(`'"${'\\'.repeat(size)}'`)],
    ['strings that never end', (size: number) => () => stringsIn(repeated('\\"', size * 10))],
  ] as const)('of %s', (_, work) => {
    return expectLinear(work);
  });
});

it.each(['{rm,-rf,/}', '{a,b}', '{a,{b,c}}', 'x{a,b,c,d,e,f,g,h}'])(
  '%j over and over becomes no long list of words',
  (part) => {
    for (const size of [40, 400, 4_000]) {
      expect(bracesExpanded(repeated(part, size)).join('').length).toBeLessThanOrEqual(16_384);
    }
  },
);

it('the commands that stopped a daemon are judged', () => {
  const verdictOf = (command: string) => judge(shellCall(command), none, 'risky', world).verdict;
  expect(verdictOf(`cat .${'*'.repeat(26)}x`)).toBe('go');
  expect(verdictOf(`cat .${'*'.repeat(26)}env`)).toBe('ask');
  expect(verdictOf(`ls .${'*'.repeat(60_000)}x`)).toBe('ask');
  expect(verdictOf(`python3 -c '"${'\\'.repeat(60_000)}'`)).toBe('go');
});

it('a policy forbids a command however hard the rest of its line is to read', () => {
  const policy = policiesWith({ rules: [{ match: { command: '*npm publish*' }, do: 'deny' }] });
  const call = shellCall(`npm publish; ls .${'*'.repeat(60_000)}x`);
  expect(judge(call, policy, 'off', world).verdict).toBe('deny');
});
