// The completion scripts, as the built program prints them, in the shells that this machine has.

import { execFileSync, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../helpers/daemon.ts';
import { temporaryFolder } from '../helpers/surroundings.ts';

const has = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;

async function script(shell: string): Promise<string> {
  const dir = await temporaryFolder();
  const { code, stdout } = await runProgram(['completion', shell], { HOME: dir }, dir).exited;
  expect(code).toBe(0);
  const file = join(dir, 'completion');
  await writeFile(file, stdout);
  return file;
}

describe.skipIf(!has('bash'))('completion in bash', () => {
  it.each([
    [['wa-sync', 'ser'], 'service'],
    [['wa-sync', 'service', 'st'], 'start stop status'],
    [['wa-sync', 'service', 'install', '--'], '--json'],
    [['wa-sync', 'hooks', 'install', '--scope', ''], 'user project'],
    [['wa-sync', 'policy', 'test', '--mode', 'r'], 'risky'],
    [['wa-sync', 'send', '--file', ''], ''],
    [['wa-sync', 'away', ''], 'on off'],
    [['wa-sync', '--v'], '--version'],
  ])('of %j offers "%s"', async (words, offered) => {
    const file = await script('bash');
    const code = `. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _wa_sync; printf '%s' "\${COMPREPLY[*]}"`;
    const found = execFileSync('bash', ['-c', code, 'bash', file, ...words], { encoding: 'utf8' });
    expect(found.split(' ').sort()).toEqual(offered.split(' ').sort());
  });
});

it.skipIf(!has('zsh'))('completion in zsh is a script that it can read (skipped without zsh)', async () => {
  expect(execFileSync('zsh', ['-n', await script('zsh')], { encoding: 'utf8' })).toBe('');
});

it.skipIf(!has('fish'))('completion in fish offers commands and choices (skipped without fish)', async () => {
  const file = await script('fish');
  const complete = (line: string) =>
    execFileSync('fish', ['--no-config', '-c', `source $argv[1]; complete -C $argv[2]`, file, line], {
      encoding: 'utf8',
    })
      .trim()
      .split('\n')
      .map((each) => each.split('\t')[0]);
  expect(complete('wa-sync serv')).toEqual(['service']);
  expect(complete('wa-sync hooks --scope ')).toEqual(['project', 'user']);
});
