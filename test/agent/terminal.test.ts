// Who sits at a terminal: by what `ps` says on macOS, and for processes without a terminal. A headless run must never be held.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { codex } from '../../agent/drivers/codex/driver.ts';
import { gemini } from '../../agent/drivers/gemini/driver.ts';
import { isInteractive, isServerProcess, isTerminalLine } from '../../agent/terminal.ts';

it.each([
  ['ttys001  node /opt/homebrew/bin/gemini', true],
  ['ttys012  node /opt/homebrew/bin/gemini --approval-mode yolo', true],
  ['??       node /opt/homebrew/bin/gemini', false],
  ['?        node /opt/homebrew/bin/gemini', false],
  ['-        node /opt/homebrew/bin/gemini', false],
  ['ttys001  node /opt/homebrew/bin/gemini -p say hi', false],
  ['ttys001  node /opt/homebrew/bin/gemini --prompt=hi', false],
  ['ttys001  node /opt/homebrew/bin/gemini --acp', false],
  ['', false],
])('of "%s" a terminal of a person: %s', (line, isTerminal) => {
  expect(isTerminalLine(line, gemini.isHeadless)).toBe(isTerminal);
});

it('the server of several terminals counts as a terminal, although it has none, and no other process without one does', async () => {
  const isServer = codex.isServer ?? (() => false);
  const pidOf = async (...args: string[]) => {
    const child = spawn(process.execPath, ['-e', 'console.log(1); setInterval(() => {}, 1000)', ...args]);
    onTestFinished(() => void child.kill());
    await once(child.stdout, 'data');
    return child.pid as number;
  };
  const [server, other] = await Promise.all([pidOf('app-server'), pidOf('resume')]);
  for (const [pid, is] of [
    [server, true],
    [other, false],
  ] as const) {
    expect(await isServerProcess(pid, isServer)).toBe(is);
    expect(await isInteractive(pid, codex)).toBe(is);
  }
  expect(await isServerProcess(2 ** 30, isServer)).toBe(false);
});
