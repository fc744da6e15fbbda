// Finds the settings that keep Gemini CLI from running the hooks of wa-sync in a project. Reads only: through no link of the
// project, and at most the size of a settings file.

import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { pathBelow, readBelow } from '../../fs/below.ts';
import { launcherName } from '../install/command.ts';
import { member, parsed, parseJson } from '../install/json-text.ts';
import { ownNamePrefix } from './install-table.ts';

const maxBytes = 1024 * 1024;

/** One sentence for each setting that switches a hook off or acts before it; empty = no such setting. Never rejects. */
export async function hookSwitches(projectDir: string, home: string): Promise<string[]> {
  // In the home folder the settings file may be a link of the user.
  const own = join(home, '.gemini', 'settings.json');
  const settings = [await pathBelow(projectDir, '.gemini', 'settings.json'), await realpath(own).catch(() => own)];
  const variables = await Promise.all([pathBelow(projectDir, '.gemini', '.env'), pathBelow(projectDir, '.env')]);
  const found = await Promise.all([
    ...[...new Set(settings)].map((path) => look(path, inSettings)),
    ...variables.map((path) => look(path, inVariables)),
  ]);
  return found.flat();
}

async function look(path: string, read: (text: string) => string[]): Promise<string[]> {
  try {
    const file = await readBelow(path, maxBytes);
    if (!file) return [];
    if (file.oversized) return [`${path} is too large to be read`];
    return read(file.bytes.toString('utf8')).map((what) => `${path} ${what}`);
  } catch {
    return [`${path} cannot be read: a link, or not an ordinary file that you may read`];
  }
}

function inSettings(text: string): string[] {
  let config: unknown;
  try {
    const found = member(parseJson(text), 'hooksConfig');
    config = found && parsed(text, found);
  } catch {
    // Gemini CLI does not start with such a file.
    return [];
  }
  const { enabled, disabled } = Object(config) as Record<string, unknown>;
  if (enabled !== undefined && enabled !== true) return ['switches all hooks off (hooksConfig.enabled)'];
  const names = (Array.isArray(disabled) ? disabled : []).filter(
    (name): name is string =>
      typeof name === 'string' && (name.startsWith(ownNamePrefix) || name.includes(launcherName)),
  );
  return names.length === 0
    ? []
    : [`switches hooks of wa-sync off (hooksConfig.disabled: ${names.join(', ').slice(0, 300)})`];
}

/** Gemini CLI passes these variables to the shell of a hook, and the shell or its loader obeys them before the hook's first line. */
function inVariables(text: string): string[] {
  const names = [
    ...text.matchAll(/^[\t ]*(?:export[\t ]+)?(BASH_ENV|SHELLOPTS|BASHOPTS|LD_\w+|DYLD_\w+)[\t ]*[=:]/gm),
  ].map(([, name]) => name);
  return names.length === 0 ? [] : [`sets ${[...new Set(names)].join(', ')}, which act before a hook does`];
}
