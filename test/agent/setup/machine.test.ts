import { expect, it } from 'vitest';
import { withPrograms } from '../../../agent/setup/machine.ts';

it('setup writes where the coding agents are, and leaves a command of the user as it is', () => {
  const own = { claude: { command: ['my-claude', '--acp'] }, codex: '/old/codex', mine: { command: ['mine'] } };
  const found = [
    { name: 'claude', path: '/usr/bin/claude' },
    { name: 'codex', path: '/usr/bin/codex' },
    { name: 'gemini', path: '/usr/bin/gemini' },
  ];
  expect(withPrograms(own, found)).toEqual({ ...own, codex: '/usr/bin/codex', gemini: '/usr/bin/gemini' });
  expect(withPrograms(undefined, [])).toEqual({});
});
