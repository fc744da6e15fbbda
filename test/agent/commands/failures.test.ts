// What the built program says when it fails, and never a stack.

import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { commandFailures } from './command-failures.ts';
import { eachProgram, type Program } from './program.ts';
import { startFailures } from './start-failures.ts';

let program: Program;
const { run } = eachProgram((given) => {
  program = given;
});

describe('a failure prints what happened, the command that repairs it, and no stack', () => {
  it.each(Object.entries({ ...startFailures, ...commandFailures }))(
    'when %s',
    async (_, { prepare, args = ['start', '-q'], env: changes, ...expected }) => {
      const { project } = program;
      await prepare?.(program);
      const { code, stdout, stderr } = await run(args, changes?.(program));
      expect({ code, stdout: stdout.replace(/^serving .*\n/, '') }).toEqual({ code: expected.code, stdout: '' });
      const [first = '', ...hint] = stderr.trimEnd().split('\n');
      expect(first).toMatch(new RegExp(`^wa-sync: .*\\(${expected.error}\\)$`));
      expect(first).toMatch(expected.says);
      expect(hint.join('\n')).toMatch(expected.hint);
      expect(stderr).not.toMatch(/\n\s+at |secret/);
      expect(await readdir(project)).toEqual((await readdir(project)).filter((name) => /^\.(git|gemini)$/.test(name)));
    },
  );
});
