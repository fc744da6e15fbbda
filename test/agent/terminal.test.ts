// Who sits at a terminal, by what `ps` says on macOS: a headless run must never be held.

import { expect, it } from 'vitest';
import { gemini } from '../../agent/drivers/gemini/driver.ts';
import { isTerminalLine } from '../../agent/terminal.ts';

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
