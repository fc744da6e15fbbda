import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dialogKeys } from '../../../../agent/drivers/gemini/dialogs.ts';

const screen = (name: string) =>
  readFileSync(join(import.meta.dirname, '../../../fixtures/gemini-0.61.0/screens', `${name}.txt`), 'utf8');
const exec = (text: string) => ({ kind: 'exec', title: 'Confirm Shell Command', text });
const edit = (...lines: string[]) => ({ kind: 'edit', title: '', text: lines.join('\n') });
const wrapped =
  'touch made && echo "a long command that does not fit on a single line of the dialog" && echo second && echo third';
const long = Array.from({ length: 60 }, (_, index) => `touch f${index}`).join('\n');
const edited = ['@@ -4,7 +4,8 @@', ' line number 4', ' line number 5', ' line number 6', '-line number 7'].concat([
  '+seven',
  '+and more',
  ' line number 8',
  ' line number 9',
  ' line number 10',
]);

describe('the keys of a dialog on a recorded screen', () => {
  it.each([
    ['command-wrapped', exec(wrapped), '3'],
    ['command-lines', exec('touch a\ntouch b\n# Allow once'), '3'],
    ['command-odd', exec('echo "日本語 │ ╰──╯ 🙂\ttab"   &&   echo "a  b"'), '3'],
    ['write-new', edit('new.txt', '@@ -0,0 +1,4 @@', '+hello', '+', '+  - world', '++ x'), '4'],
    ['edit', edit('g.txt', ...edited), '4'],
  ])('are found where the screen shows the whole of it: %s', (name, dialog, deny) => {
    expect(dialogKeys(screen(name), dialog)).toEqual({ allow: '1', deny });
  });

  it.each([
    ['another command', 'command-wrapped', exec(`${wrapped} more`)],
    ['a command that is cut off', 'command-cut', exec(long)],
    ['another change of the file', 'edit', edit('g.txt', ...edited.map((line) => line.replace('+seven', '+eight')))],
    ['the same change of another file', 'edit', edit('h.txt', ...edited)],
    ['a dialog that was answered', 'cancelled', exec('touch made')],
    ['a tool of an MCP server, whose arguments are hidden', 'mcp', { kind: 'mcp', title: '', text: 'lab: hello' }],
    ['an address, which names no more than its beginning', 'fetch', { kind: 'info', title: '', text: '' }],
    ['a question', 'question', { kind: 'ask_user', title: '', text: '' }],
  ])('are not found for %s', (_what, name, dialog) => {
    expect(dialogKeys(screen(name), dialog)).toBeUndefined();
  });

  it('are not found when something stands below the dialog, or a part of it has scrolled away', () => {
    const whole = screen('command-lines').trimEnd();
    const dialog = exec('touch a\ntouch b\n# Allow once');
    expect(dialogKeys(`${whole}\n$ `, dialog)).toBeUndefined();
    const box = whole.split('\n').slice(whole.split('\n').findIndex((line) => line.startsWith('╭')));
    expect(dialogKeys(box.slice(1).join('\n'), dialog)).toBeUndefined();
    expect(dialogKeys(box.join('\n'), dialog)).toEqual({ allow: '1', deny: '3' });
  });

  it('are not found for a command whose own lines imitate the dialog of another one', () => {
    const imitation = screen('command-lines')
      .replace('│ │ # Allow once ', '│ │ ╰─────╯ │ Allow ')
      .replace('│ │ touch b ', '│ │ ╭─────╮ ');
    expect(dialogKeys(imitation, exec('touch a'))).toBeUndefined();
  });
});
