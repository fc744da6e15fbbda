// One question to a program on its stdin: the answer, or why there is none, and no process is left.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { askProgram } from '../../../agent/doctor/surroundings.ts';
import { isOver } from '../../../agent/process.ts';
import { until } from '../../helpers/daemon.ts';
import { temporaryFolder } from '../../helpers/surroundings.ts';

/** Asks a program of this source; resolves when each process that it has named as `pid` is over. */
async function tried(source: string, timeoutMs?: number): Promise<Awaited<ReturnType<typeof askProgram>>> {
  const folder = await temporaryFolder();
  await mkdir(folder, { recursive: true });
  const script = join(folder, 'program.mjs');
  await writeFile(script, `const say = (line) => process.stdout.write(line + '\\n');\n${source}`);
  const pids: number[] = [];
  const asked = await askProgram(process.execPath, [script], {
    input: 'question\n',
    isAnswer(line) {
      if (line.startsWith('pid ')) pids.push(Number(line.slice(4)));
      return line.startsWith('answer');
    },
    env: { PATH: process.env.PATH ?? '' },
    cwd: folder,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  await until('no process is left', () => pids.every((pid) => isOver({ pid, started: '' })));
  return asked;
}

const echo = `process.stdin.on('data', (text) => say('answer to ' + text.toString().trim()));`;
const staysOpen = `setInterval(() => {}, 1000);`;
const child = `
import { spawn } from 'node:child_process';
say('pid ' + spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' }).pid);
`;

it('takes the line that answers, in whatever pieces it comes', async () => {
  expect(await tried(`say('noise'); ${echo}`)).toEqual({ line: 'answer to question' });
  const pieces = `process.stdout.write('ans'); setTimeout(() => say('wer in two'), 20); process.stdin.resume();`;
  expect(await tried(pieces)).toEqual({ line: 'answer in two' });
});

it('a program that stays after its answer is ended with what it started', async () => {
  const asked = await tried(`${child}${echo}${staysOpen}say('pid ' + process.pid);`);
  expect(asked).toEqual({ line: 'answer to question' });
});

it('a program that does not answer is ended with what it started', async () => {
  const asked = await tried(`${child}${staysOpen}say('pid ' + process.pid);`, 1_500);
  expect(asked).toEqual({ why: 'did not answer within 1.5 s' });
});

it('a program that says too much is ended', async () => {
  const flood = `const line = 'x'.repeat(1e6); const more = () => process.stdout.write(line, more); more();`;
  expect(await tried(flood)).toEqual({ why: 'answered more than can be read' });
});

it('a program that ends or does not start is named so', async () => {
  expect(await tried('process.exit(3)')).toEqual({ why: 'ended with 3 before it answered' });
  const nothing = { input: '', isAnswer: () => true, env: {}, cwd: '/' };
  expect(await askProgram('/nowhere/codex', [], nothing)).toEqual({
    why: expect.stringMatching(/^does not start .*ENOENT/),
  });
});
