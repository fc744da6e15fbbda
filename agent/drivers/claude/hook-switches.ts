// Finds the settings that keep Claude Code from running the hooks of wa-sync in a project. Reads only: through no link of the project, and at
// most the size of a settings file.

import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { namesBelow, pathBelow, readBelow } from '../../fs/below.ts';
import { object } from '../fields.ts';
import { parsed, parseJson } from '../install/json-text.ts';

const maxBytes = 1024 * 1024;

/** The folder of an administrator, which a person's settings cannot outvote. */
const managedFolder = '/etc/claude-code';

/** One sentence for each setting that switches a hook off or acts before it; empty = no such setting. `own` = the user's file. Never rejects. */
export async function hookSwitches(projectDir: string, own: string, managed = managedFolder): Promise<string[]> {
  const ofManager = await managedFiles(managed);
  const others = [
    // In the home folder the settings file may be a link of the user.
    await realpath(own).catch(() => own),
    await pathBelow(projectDir, '.claude', 'settings.json'),
    await pathBelow(projectDir, '.claude', 'settings.local.json'),
  ];
  const found = await Promise.all([
    ...ofManager.map((path) => look(path, true)),
    ...[...new Set(others)].map((path) => look(path, false)),
  ]);
  return found.flat();
}

async function managedFiles(folder: string): Promise<string[]> {
  const more = join(folder, 'managed-settings.d');
  const names = await namesBelow(more, (name) => name.endsWith('.json')).catch(() => []);
  return [join(folder, 'managed-settings.json'), ...names.map((name) => join(more, name))];
}

async function look(path: string, isManaged: boolean): Promise<string[]> {
  try {
    const file = await readBelow(path, maxBytes);
    if (!file) return [];
    if (file.oversized) return [`${path} is too large to be read`];
    return switchesIn(file.bytes.toString('utf8'), isManaged).map((what) => `${path} ${what}`);
  } catch {
    return [`${path} cannot be read: a link, or not an ordinary file that you may read`];
  }
}

/** Variables that act in the shell of a hook before its first line. */
const early = /^(BASH_ENV|SHELLOPTS|BASHOPTS|LD_\w+|DYLD_\w+)$/;

function switchesIn(content: string, isManaged: boolean): string[] {
  let settings: Record<string, unknown>;
  try {
    settings = object(parsed(content, parseJson(content)));
  } catch {
    // Claude Code leaves such a file out.
    return [];
  }
  const names = Object.keys(object(settings.env)).filter((name) => early.test(name));
  return [
    ...(settings.disableAllHooks === true ? ['switches all hooks off (disableAllHooks)'] : []),
    ...(isManaged && settings.allowManagedHooksOnly === true
      ? ['allows managed hooks only (allowManagedHooksOnly)']
      : []),
    ...(names.length > 0 ? [`sets ${names.join(', ')}, which act before a hook does`] : []),
  ];
}
