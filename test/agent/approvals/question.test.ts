import { describe, expect, it } from 'vitest';
import { actionOf, questionItem, questionPart, readAction, verdictItem } from '../../../agent/approvals/question.ts';
import { headAndTail, shortDiff, visible } from '../../../agent/approvals/visible.ts';

const options = {
  why: [] as string[],
  fileNow: undefined,
  hidesFile: false,
  redact: (text: string) => text.replaceAll('hunter2', '[redacted:own-token]'),
  waits: '60 min',
  onTimeout: 'deny' as const,
  checkpoint: undefined,
};
const shell = (command: string, more = {}) =>
  questionPart({
    ...options,
    call: { tool: 'run_shell_command', server: undefined, input: { command, ...more } },
  });

describe('a question', () => {
  it('shows the command as it is, marked as code, in UTF-16 units', () => {
    const { text, entities } = shell('echo "😀" && ls');
    expect(text).toBe('Run run_shell_command?\necho "😀" && ls\nWaits 60 min, then it is denied.');
    const [{ offset, length, type } = { offset: 0, length: 0, type: '' }] = entities;
    expect([type, text.slice(offset, offset + length)]).toEqual(['pre', 'echo "😀" && ls']);
  });

  it('shows what else the call asks for, but the words by which the agent describes it', () => {
    const { text } = shell('ls', { description: 'harmless!', directory: '/etc', is_background: true });
    expect(text).toContain('ls\n# directory: "/etc"\n# is_background: true\n');
    expect(text).not.toContain('harmless');
  });

  it('hides no secret that hidden characters cut in two, and names the MCP server', () => {
    const { text } = questionPart({
      ...options,
      call: { tool: 'mcp_x_y', server: 'x', input: { token: 'hunter2' } },
      why: ['holds a secret'],
      checkpoint: 'refs/wa-sync/1',
    });
    expect(text).toContain('Run mcp_x_y (MCP server x)?\n⚠ holds a secret\n');
    expect(text).toContain('"token": "[redacted:own-token]"');
    expect(text).toContain('Checkpoint: refs/wa-sync/1\n');
  });

  it('shows neither a secret of several lines nor what a file of secrets holds now', () => {
    const write = (hidesFile: boolean) =>
      questionPart({
        ...options,
        redact: (text) => text.replace('BEGIN\nhunter\nEND', '[redacted:key]'),
        call: { tool: 'write_file', server: undefined, input: { file_path: '.env', content: 'A=2' } },
        fileNow: 'A=1\nBEGIN\nhunter\nEND',
        hidesFile,
      }).text;
    expect(write(false)).toContain('.env (replaces the file)\n- A=1\n- [redacted:key]\n+ A=2\n');
    expect(write(true)).toContain('.env (replaces the file)\n+ A=2\n');
  });

  it.each([10, 5_000, 100_000])(
    'fits into one phone message with its verdict, whatever %i characters it shows',
    (n) => {
      const part = shell('😀\u202e'.repeat(n));
      const item = verdictItem('ab', part, 'edited', 'x'.repeat(10_000));
      for (const each of [part, item.parts[0]]) {
        expect(each?.text.length).toBeLessThanOrEqual(4096);
        for (const { offset, length } of each?.entities ?? []) {
          expect(offset + length).toBeLessThanOrEqual(each?.text.length ?? 0);
          expect(each?.text.slice(offset, offset + length)).not.toMatch(/\p{Surrogate}/u);
        }
      }
    },
  );

  it('is bound to the hash of the arguments by each of its buttons', () => {
    const item = questionItem({ id: 'ab12', hash: 'cd34' }, shell('ls'), { always: true, edit: true });
    expect(item.buttons?.flat().map(({ action }) => readAction(action))).toEqual(
      (['approve', 'deny', 'always', 'edit'] as const).map((answer) => ({ id: 'ab12', hash: 'cd34', answer })),
    );
    expect(readAction(actionOf('ab12', 'cd34', 'deny').replace('deny', 'root'))).toBeUndefined();
  });
});

describe('what a text hides', () => {
  it.each([
    ['a\u202eb', 'a⟨U+202E⟩b'],
    ['a\u200b\u2060b', 'a⟨U+200B⟩⟨U+2060⟩b'],
    ['\u001b[2Ka', '⟨U+001B⟩[2Ka'],
    ['a\rb', 'a⟨U+000D⟩b'],
    ['a\u00a0b\u3000c', 'a⟨U+00A0⟩b⟨U+3000⟩c'],
    ['\u{e0041}x', '⟨U+E0041⟩x'],
    ['\ud800x', '⟨U+D800⟩x'],
    ['tab\tline\r\nend', 'tab\tline\nend'],
    ['ä é 漢 😀', 'ä é 漢 😀'],
  ])('%j is shown as %j', (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it('in the middle of what is long is counted', () => {
    expect(headAndTail('a'.repeat(100), 30)).toBe(`${'a'.repeat(20)}\n⟨… 70 characters left out …⟩\n${'a'.repeat(10)}`);
    expect(headAndTail('short', 30)).toBe('short');
  });
});

it('a diff shows the lines that change with one around them', () => {
  expect(shortDiff('a\nb\nc\nd', 'a\nb\nX\nd')).toBe('  b\n- c\n+ X\n  d');
  expect(shortDiff('', 'new')).toBe('+ new');
  expect(shortDiff('old', '')).toBe('- old');
  expect(shortDiff('a\na', 'a')).toBe('  a\n- a');
});
