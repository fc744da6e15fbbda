import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSession } from '../../../../agent/drivers/gemini/session-log.ts';

const readTools = (text: string) => readSession(text).tools;
const recorded = (name: string) =>
  readFileSync(join(import.meta.dirname, '..', '..', '..', 'fixtures', 'gemini-0.61.0', name), 'utf8');

describe('the tools of a session file', () => {
  it('are those that ran, and not those that were refused', () => {
    const commands = readTools(recorded('session.interactive.jsonl')).map(({ input }) => input.command);
    expect(commands).toContain('echo AAA > a.txt');
    expect(commands).not.toContain('touch b.txt');
  });

  it('have a time, a name and their arguments', () => {
    expect(readTools(recorded('session.hook-context.jsonl'))).toEqual([
      {
        id: 'run_shell_command__run_shell_command_1795221064946_0',
        tool: 'run_shell_command',
        input: { command: 'echo hi' },
        at: Date.parse('2026-11-21T00:31:05.226Z'),
      },
    ]);
  });

  it('are empty for a list that is written again, a torn line, and a line that is not a message', () => {
    const call = { id: '1', name: 'x', args: {}, status: 'success', timestamp: '2026-11-21T00:31:05.226Z' };
    const message = { type: 'gemini', toolCalls: [call] };
    const lines = [
      { $set: { messages: [message] } },
      { ...message, type: 'user' },
      [message],
      { type: 'gemini', toolCalls: 'x' },
    ];
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    expect(readTools(`${text}${JSON.stringify(message).slice(0, -3)}`)).toEqual([]);
    expect(readTools(JSON.stringify(message))).toHaveLength(1);
  });
});
