// The tools of Codex and their arguments. Pure; the hook fallback bundles it.

import type { Edit, Input, Tools, Write } from '../driver.ts';
import { list, text } from '../fields.ts';
import { questionsOf } from '../hook-call.ts';

export const patchTool = 'apply_patch';

export const tools: Tools = {
  // The hooks say `Bash` for every tool that runs a command.
  acts: { Bash: 'run', [patchTool]: 'edit', view_image: 'read', web_search: 'webSearch', request_user_input: 'ask' },
  readOnly: new Set([
    'view_image',
    'web_search',
    'request_user_input',
    'get_goal',
    'list_mcp_resources',
    'tool_search',
  ]),
  shell: 'Bash',
  question: { tool: 'request_user_input', textOf: questionsOf },
  subAgent: undefined,
  command: ({ command }) => text(command),
  withCommand: (input, command) => ({ ...input, command }),
  folder: 'workdir',
  file: (input) => text(input.path) ?? filesOf(input).at(0),
  edit,
  write,
  shown: { command: ['command', 'description'], edit: ['patch', 'files'], write: ['patch', 'files'] },
  addedByHost: { Bash: ['description'] },
  serverOf,
};

/** `mcp__<server>__<tool>`. */
export function serverOf(tool: string): string | undefined {
  const rest = tool.startsWith('mcp__') ? tool.slice(5) : '';
  const at = rest.indexOf('__');
  return at > 0 ? rest.slice(0, at) : undefined;
}

const fileMark = /^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/;

/**
 * The hooks name the text of a patch `command`, as the command line of a shell, which is judged by other rules. The files that the patch
 * names stand beside it, because rules about files look at arguments.
 */
export function patchInput(patch: string): Input {
  const files = patch.split('\n').flatMap((line) => fileMark.exec(line.trim())?.[1] ?? []);
  return { patch, files };
}

function filesOf({ files }: Input): string[] {
  return list(files).flatMap((file) => text(file) ?? []);
}

/** The lines of a patch that concerns one file and begins so. */
function onlyFile(input: Input, mark: string): { file: string; lines: string[] } | undefined {
  const [file, ...more] = filesOf(input);
  const lines = (text(input.patch) ?? '').split('\n').map((line) => line.replace(/\r$/, ''));
  const at = lines.findIndex((line) => line.trim() === `*** ${mark}: ${file}`);
  if (file === undefined || more.length > 0 || at === -1) return undefined;
  return { file, lines: lines.slice(at + 1).filter((line) => !line.startsWith('*** ')) };
}

function edit(input: Input): Edit | undefined {
  const found = onlyFile(input, 'Update File');
  if (!found) return undefined;
  const { file, lines } = found;
  const side = (drop: string) =>
    lines.flatMap((line) => (line.startsWith('@@') || line.startsWith(drop) ? [] : [line.slice(1)])).join('\n');
  return { file, before: side('+'), after: side('-'), everywhere: false };
}

function write(input: Input): Write | undefined {
  const found = onlyFile(input, 'Add File');
  return found && { file: found.file, content: found.lines.map((line) => line.slice(1)).join('\n') };
}
