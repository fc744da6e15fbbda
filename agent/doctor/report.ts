// The findings as lines for a terminal: one line each, and its repair below. Pure.

import type { Line } from '../screen.ts';
import type { Repaired } from './doctor.ts';
import type { Finding, State } from './finding.ts';

const marks = { fail: '✗', warn: '!', ok: '✓', skipped: '-' } as const satisfies Record<State, string>;
const tones = { fail: 'bad', warn: 'odd', ok: 'good', skipped: 'quiet' } as const satisfies Record<State, Line['tone']>;

export function findingLines(findings: readonly Finding[]): Line[] {
  const width = Math.max(0, ...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ check, state, evidence, repair }): Line[] => [
    { text: `${marks[state]} ${check.padEnd(width)}  ${evidence}`, tone: tones[state] },
    ...(repair === undefined ? [] : [{ text: `  ${' '.repeat(width)}  → ${repair}` }]),
  ]);
  const count = (state: State) => findings.filter((each) => each.state === state).length;
  const [bad, odd] = [count('fail'), count('warn')];
  const verdict =
    bad + odd === 0
      ? 'all is well'
      : `${bad} ${bad === 1 ? 'failure' : 'failures'}, ${odd} ${odd === 1 ? 'warning' : 'warnings'}`;
  const fixable = findings.some(({ fix }) => fix) ? '; `wa-sync doctor --fix` repairs some of it' : '';
  return [...lines, { text: `${findings.length} findings: ${verdict}${fixable}` }];
}

export function repairedLines(repaired: readonly Repaired[]): Line[] {
  return repaired.map(({ check, done, failed }) => ({
    text: `${failed ? 'not repaired' : 'repaired'}  ${check}: ${done}`,
    tone: failed ? 'bad' : 'good',
  }));
}
