// Commands of a policy as real processes: what is left of them when their time is over.

import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { runCommand } from '../../../agent/approvals/run.ts';
import { isAlive } from '../../../agent/process.ts';
import { until } from '../../helpers/daemon.ts';

const run = (command: string, options: { stdin?: string; timeoutMs?: number } = {}) =>
  runCommand(command, { cwd: tmpdir(), stdin: '', timeoutMs: 30_000, onStart: () => {}, ...options });

it('a command reads its stdin, and its two streams are told apart', async () => {
  const ran = await run('tr a-z A-Z; echo trouble >&2; exit 3', { stdin: 'a result' });
  expect(ran).toMatchObject({ code: 3, stdout: 'A RESULT' });
  expect(ran.output).toContain('trouble');
});

it('a command that does not read it is as good', async () => {
  expect(await run('echo done', { stdin: 'x'.repeat(1_000_000) })).toEqual({
    code: 0,
    output: 'done',
    stdout: 'done\n',
  });
});

it.skipIf(process.platform === 'win32')('a command over its time is ended with all that it started', async () => {
  const ran = await run('sleep 600 & echo $!; echo; sleep 600', { timeoutMs: 300 });
  expect(ran.code).toBe('late');
  await until('the process in the background is gone', () => !isAlive(Number.parseInt(ran.stdout, 10)));
});

it('what is printed beyond measure is left out, and said so', async () => {
  const { stdout, output } = await run('head -c 500000 /dev/zero | tr "\\0" x');
  expect(stdout).toBe(`${'x'.repeat(400_000)}\n[100000 characters left out by wa-sync]`);
  expect(output).toHaveLength(4_001);
});

it('a folder that is gone is no reason to fall', async () => {
  const ran = await runCommand('true', { cwd: '/nonexistent', stdin: 'x', timeoutMs: 1_000, onStart: () => {} });
  expect(ran.code).toBe(127);
});
