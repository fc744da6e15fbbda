// Commands of a policy as real processes: what is left of them when their time is over.

import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { runCommand } from '../../../agent/approvals/run.ts';
import { isAlive } from '../../../agent/process.ts';
import { until } from '../../helpers/daemon.ts';

const run = (command: string, options: { stdin?: string; timeoutMs?: number } = {}) =>
  runCommand(command, { cwd: tmpdir(), stdin: '', timeoutMs: 30_000, ...options });

it('a command reads its stdin, and its two streams are told apart', async () => {
  const ran = await run('tr a-z A-Z; echo trouble >&2; exit 3', { stdin: 'a result' });
  expect(ran).toMatchObject({ code: 3, stdout: 'A RESULT' });
  expect(ran.output).toContain('trouble');
});

it('a command that leaves its stdin unread runs as well', async () => {
  expect(await run('echo done', { stdin: 'x'.repeat(1_000_000) })).toEqual({
    code: 0,
    output: 'done',
    stdout: 'done\n',
  });
});

it.skipIf(process.platform === 'win32')('a command that takes too long is ended with all that it started', async () => {
  const ran = await run('sleep 600 & echo $!; echo; sleep 600', { timeoutMs: 300 });
  expect(ran.code).toBe('late');
  await until('the process in the background is gone', () => !isAlive(Number.parseInt(ran.stdout, 10)));
});

it('output beyond the limit is left out, and a line says so', async () => {
  const { stdout, output } = await run('head -c 500000 /dev/zero | tr "\\0" x');
  expect(stdout).toBe(`${'x'.repeat(400_000)}\n[100000 characters left out by wa-sync]`);
  expect(output).toHaveLength(16_000);
});

it('a missing folder is reported as the result of the command', async () => {
  const ran = await runCommand('true', { cwd: '/nonexistent', stdin: 'x', timeoutMs: 1_000 });
  expect(ran.code).toBe(127);
});

it.each([
  ['too long for the system', `: ${'x'.repeat(200_000)}`],
  ['no text for it', 'echo \0'],
])('a command that is %s is reported as the result', async (_, command) => {
  expect(await run(command)).toMatchObject({ code: 127, stdout: '' });
});

it.skipIf(process.platform === 'win32')(
  'a command of a process without a free file descriptor is reported as the result',
  async () => {
    const script = `
    import { openSync } from 'node:fs';
    import { runCommand } from ${JSON.stringify(join(import.meta.dirname, '../../../agent/approvals/run.ts'))};
    try { for (;;) openSync('/dev/null'); } catch {}
    const { code } = await runCommand('true', { cwd: '/', stdin: '', timeoutMs: 30_000 });
    console.log(code);`;
    const node = ['--experimental-strip-types', '--input-type=module', '-e', script];
    const limited = ['-c', 'ulimit -n 64; exec "$@"', 'sh', process.execPath, ...node];
    expect((await promisify(execFile)('sh', limited)).stdout).toBe('127\n');
  },
);
