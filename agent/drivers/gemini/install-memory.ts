// Removes wa-sync from the files in which Gemini CLI remembers hooks and extensions by name. An unreadable file stays as it is.

import { join } from 'node:path';
import { readText, removeTree, writeWhole } from './install-files.ts';
import { type JsonNode, member, parsed, parseNodes, remove } from './install-json-text.ts';
import { ownNamePrefix } from './install-table.ts';

/** `gemini extensions enable` and `disable` write this file, and the CLI's own uninstall removes the name too. Throws `file_unusable`. */
export function forgetEnablement(home: string, extension: string): void {
  edit(join(home, '.gemini', 'extensions', 'extension-enablement.json'), (text, root) => {
    const index = root.items.findIndex((item) => item.key === extension);
    return index < 0 ? undefined : remove(text, root, index);
  });
}

/** Gemini CLI remembers the announced hooks of a project as "name:command". Throws `file_unusable`. */
export function forgetTrust(home: string, projectDir: string): void {
  edit(join(home, '.gemini', 'trusted_hooks.json'), (text, root) => {
    const list = member(root, projectDir);
    if (list?.kind !== 'array') return undefined;
    const index = list.items.findIndex(({ value }) => String(parsed(text, value)).startsWith(ownNamePrefix));
    if (index < 0) return undefined;
    if (list.items.length > 1) return remove(text, list, index);
    return remove(
      text,
      root,
      root.items.findIndex((item) => item.value === list),
    );
  });
}

// Repeats `step` until it returns undefined. Removes a file that held nothing else.
function edit(file: string, step: (text: string, root: JsonNode) => string | undefined): void {
  const before = readText(file);
  if (before === undefined || !isJson(before)) return;
  let text = before;
  for (let next: string | undefined = text; next !== undefined; next = step(text, parseNodes(text))) text = next;
  if (text === before) return;
  if (text.trim() === '{}') removeTree(file);
  else writeWhole(file, text);
}

function isJson(text: string): boolean {
  try {
    parseNodes(text);
    return true;
  } catch {
    return false;
  }
}
