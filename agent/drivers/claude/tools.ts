// The tools of Claude Code and their arguments, and whose server an MCP tool is. Pure; the hook fallback bundles it.

import type { Tools } from '../driver.ts';
import { text } from '../fields.ts';
import { editOf, questionsOf, writeOf } from '../hook-call.ts';

export const tools: Tools = {
  acts: {
    Bash: 'run',
    Write: 'write',
    Edit: 'edit',
    MultiEdit: 'edit',
    NotebookEdit: 'edit',
    Read: 'read',
    NotebookRead: 'read',
    LS: 'list',
    Glob: 'list',
    Grep: 'search',
    WebFetch: 'address',
    WebSearch: 'webSearch',
    AskUserQuestion: 'ask',
  },
  readOnly: new Set([
    ...['Read', 'NotebookRead', 'LS', 'Glob', 'Grep', 'WebFetch', 'WebSearch', 'AskUserQuestion', 'ToolSearch'],
    ...['TodoWrite', 'TaskCreate', 'TaskUpdate', 'TaskList', 'TaskGet', 'TaskOutput', 'BashOutput', 'LSP'],
  ]),
  shell: 'Bash',
  question: { tool: 'AskUserQuestion', textOf: questionsOf },
  subAgent: 'Agent',
  command: ({ command }) => text(command),
  withCommand: (input, command) => ({ ...input, command }),
  // Bash has no such argument: the shell stays where an earlier command went.
  folder: 'cwd',
  file: ({ file_path, notebook_path }) => text(file_path) ?? text(notebook_path),
  edit: (input) => editOf(input, input.replace_all === true),
  write: writeOf,
  shown: {
    command: ['command', 'description'],
    edit: ['file_path', 'old_string', 'new_string', 'replace_all'],
    write: ['file_path', 'content'],
  },
  addedByHost: { AskUserQuestion: ['answers', 'annotations'] },
  serverOf: (tool) => /^mcp__(.+?)__/.exec(tool)?.[1],
};
