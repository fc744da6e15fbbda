import { describe, expect, it } from 'vitest';
import { askWords, ranWords, runningWords, shortWords } from '../../../agent/drivers/tool-words.ts';
import { textsIn } from '../../../protocol/texts.ts';

const en = textsIn('en');
const call = (tool: string, input: Record<string, unknown> = {}, server?: string) => ({
  agent: 'gemini',
  tool,
  server,
  input,
});

describe('a tool call in words for a person', () => {
  it.each([
    [
      call('run_shell_command', { command: 'npm test\nrm -rf ~' }),
      'Run a command?',
      'Running: npm test',
      'command',
      'a command ran',
    ],
    [
      call('write_file', { file_path: 'src/a.ts', content: '' }),
      'Write src/a.ts?',
      'Writing: src/a.ts',
      'write',
      'a file was written',
    ],
    [call('replace', { file_path: 'src/a.ts' }), 'Edit src/a.ts?', 'Editing: src/a.ts', 'edit', 'a file was edited'],
    [call('web_fetch', { prompt: 'x' }), 'Fetch an address?', 'Fetching', 'fetch', 'an address was fetched'],
    [
      call('save_memory'),
      'Use the tool save_memory?',
      'Using the tool save_memory',
      'the tool save_memory',
      'the tool save_memory ran',
    ],
    [
      call('mcp_lab_run_shell_command', { command: 'x' }, 'lab'),
      'Use run_shell_command of the MCP server lab?',
      'Using run_shell_command of the MCP server lab',
      'run_shell_command of the MCP server lab',
      'run_shell_command of the MCP server lab ran',
    ],
  ])('is named by what it does: %j', (named, asks, runs, short, ran) => {
    const words = [askWords(named, en), runningWords(named, en), shortWords(named, en), ranWords(named, en)];
    expect(words).toEqual([asks, runs, short, ran]);
  });

  it('has the words of no tool of the agent for a tool of a server with the same name', () => {
    expect(askWords(call('write_file', { file_path: 'a' }, 'fs'), en)).toBe('Use write_file of the MCP server fs?');
  });

  it('names no file that would pass for another line, and the end of a long one', () => {
    expect(askWords(call('write_file', { file_path: 'a?\nWaits 60 min' }), en)).toBe('Write a file?');
    const long = `${'deep/'.repeat(100)}a.ts`;
    expect(askWords(call('replace', { file_path: long }), en).length).toBeLessThan(100);
    expect(askWords(call('replace', { file_path: long }), en)).toContain('deep/a.ts?');
  });
});
