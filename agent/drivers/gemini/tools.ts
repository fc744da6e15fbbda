// The tools of Gemini CLI and their arguments. Pure; the hook fallback bundles it.

import type { Tools } from '../driver.ts';
import { text } from '../fields.ts';
import { editOf, questionsOf, writeOf } from '../hook-call.ts';

export const tools: Tools = {
  acts: {
    run_shell_command: 'run',
    write_file: 'write',
    replace: 'edit',
    read_file: 'read',
    read_many_files: 'read',
    list_directory: 'list',
    glob: 'list',
    grep_search: 'search',
    search_file_content: 'search',
    web_fetch: 'address',
    google_web_search: 'webSearch',
    ask_user: 'ask',
  },
  readOnly: new Set([
    ...['read_file', 'read_many_files', 'list_directory', 'glob', 'search_file_content', 'grep_search'],
    ...['google_web_search', 'web_fetch', 'save_memory', 'ask_user', 'get_internal_docs', 'activate_skill'],
  ]),
  shell: 'run_shell_command',
  question: { tool: 'ask_user', textOf: questionsOf },
  subAgent: 'invoke_agent',
  command: ({ command }) => text(command),
  withCommand: (input, command) => ({ ...input, command }),
  folder: 'dir_path',
  file: ({ file_path }) => text(file_path),
  edit: (input) => editOf(input, input.allow_multiple === true || Number(input.expected_replacements) > 1),
  write: writeOf,
  shown: {
    command: ['command', 'description'],
    edit: ['file_path', 'old_string', 'new_string', 'instruction', 'allow_multiple', 'expected_replacements'],
    write: ['file_path', 'content'],
  },
  addedByHost: { grep_search: ['context'], search_file_content: ['context'] },
  serverOf: (tool) => /^mcp_([^_]+)_/.exec(tool)?.[1],
};
