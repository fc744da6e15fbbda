// Permission requests of an agent that lies: what cannot be told apart is not offered.

import { expect, it } from 'vitest';
import { acpRows, type Habits } from '../../../../agent/owned/acp/agents.ts';
import { permissionIn } from '../../../../agent/owned/acp/requests.ts';
import { readUpdate, toolIn } from '../../../../agent/owned/acp/updates.ts';

const request = (options: unknown) => permissionIn({ toolCall: { toolCallId: 't1', title: 'rm -r x' }, options });
const option = (optionId: unknown, kind: unknown, name = String(kind)) => ({ optionId, kind, name });
const offered = (options: unknown) => request(options)?.options.map(({ id, kind }) => [id, kind]);

it('an option whose id another has too is left out, whichever of them comes first or late', () => {
  const no = option('no', 'reject_once');
  expect(offered([option('x', 'allow_once'), no, option('x', 'reject_always')])).toEqual([['no', 'denyOnce']]);
  const late = [...Array(30).keys()].map((at) => option(`other${at}`, 'reject_once'));
  expect(offered([option('x', 'allow_once'), ...late, option('x', 'reject_once')])?.flat()).not.toContain('x');
  expect(request([option('x', 'allow_once'), option('x', 'reject_once')])).toBeUndefined();
});

it('an option is what its kind says, whatever its name says; without a known kind it is left out', () => {
  expect(request([option('a', 'reject_once', 'Yes, run it')])?.options).toEqual([
    { id: 'a', kind: 'denyOnce', name: 'Yes, run it' },
  ]);
  for (const kind of ['constructor', '__proto__', 'toString', '', 7, null, undefined, ['allow_once']]) {
    expect(request([option('a', kind)])).toBeUndefined();
  }
});

it('words that every object has are no update, no state and no end', () => {
  const habits = acpRows({})[0]?.habits as Habits;
  for (const word of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    expect(readUpdate({ sessionUpdate: word, content: { text: 'x' } }, habits)).toEqual([]);
    expect(toolIn({ toolCallId: 't1', status: word })).toEqual({ id: 't1' });
  }
});
