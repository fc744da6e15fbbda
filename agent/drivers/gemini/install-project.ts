// Hooks in `<project>/.gemini/settings.json`. Owns our entries there and nothing else in that file.

import { existsSync, realpathSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { WaError } from '../../../protocol/errors.ts';
import { makeFolder, readText, removeEmpty, removeTree, unusable, writeWhole } from './install-files.ts';
import type { ProjectRecord } from './install-record.ts';
import { emptyPaths, type OwnEntry, ownEntries, settingsProblem, withHooks, withoutHooks } from './install-settings.ts';
import { type LauncherPlace, ownNamePrefix } from './install-table.ts';

export const projectFile = (projectDir: string) => join(projectDir, '.gemini', 'settings.json');

/**
 * Installs or upgrades. `remember` gets what did not exist before, ahead of the first change, so that an interrupted installation can be
 * removed as well. Errors: `settings_unreadable`, `outside_project`, `file_unusable`.
 */
export function installInProject(
  dir: string,
  place: LauncherPlace,
  known: ProjectRecord | undefined,
  remember: (record: ProjectRecord) => void,
): void {
  const file = projectFile(dir);
  refuseForeignFolder(dir);
  const text = readText(file);
  const problem = text === undefined ? undefined : settingsProblem(text);
  if (problem !== undefined) {
    throw new WaError('settings_unreadable', `${file} cannot be edited: ${problem}`, {
      hint: 'Run `wa-sync hooks install --agent gemini --scope extension`, which leaves that file alone.',
    });
  }
  const edited = withHooks(text, place);
  const madeFolder = !existsSync(join(dir, '.gemini'));
  const emptyBefore = text === undefined ? [] : emptyPaths(text);
  remember(known ?? { madeFolder, madeFile: text === undefined, emptyBefore });
  if (edited === text) return;
  makeFolder(join(dir, '.gemini'));
  writeUnchanged(file, text, edited);
}

/** Returns whether there was something of ours. A project or file that is gone has nothing. Errors: `settings_unreadable`, `file_unusable`. */
export function uninstallFromProject(dir: string, record: ProjectRecord | undefined): boolean {
  const file = projectFile(dir);
  const text = readText(file);
  if (text === undefined) return false;
  const problem = settingsProblem(text);
  if (problem !== undefined && !text.includes(ownNamePrefix)) return false;
  if (problem !== undefined) {
    throw new WaError('settings_unreadable', `${file} cannot be edited: ${problem}`, {
      hint: `Delete the hooks named ${ownNamePrefix}* there by hand; until then they do nothing once the launcher is gone.`,
    });
  }
  const edited = withoutHooks(text, record?.emptyBefore ?? []);
  if (edited === text) return false;
  if (record?.madeFile && edited.trim() === '{}') {
    removeTree(file);
    if (record.madeFolder) removeEmpty(join(dir, '.gemini'), join(dir, '.gemini'));
  } else {
    writeUnchanged(file, text, edited);
  }
  return true;
}

/** Our entries in a project; none when the file is missing or cannot be read as JSON. */
export function entriesInProject(dir: string): OwnEntry[] {
  const text = readText(projectFile(dir));
  return text === undefined || settingsProblem(text) !== undefined ? [] : ownEntries(text);
}

function refuseForeignFolder(dir: string): void {
  const folder = join(dir, '.gemini');
  let real: string;
  let root: string;
  try {
    root = realpathSync(dir);
  } catch (error) {
    throw unusable('find', dir, error);
  }
  try {
    real = realpathSync(folder);
  } catch {
    return;
  }
  const path = relative(root, real);
  if (path === '..' || path.startsWith(`..${sep}`)) {
    throw new WaError('outside_project', `${folder} is a link that leaves the project, to ${real}`, {
      hint: 'Replace the link by a folder, or run `wa-sync hooks install --agent gemini --scope extension`.',
    });
  }
}

// Gemini CLI and editors write this file too: what they wrote since our read must not be undone.
function writeUnchanged(file: string, before: string | undefined, after: string): void {
  if (readText(file) !== before) {
    throw new WaError('file_unusable', `${file} was changed by another program at the same moment`, {
      hint: 'Run the command again.',
      retryable: true,
    });
  }
  writeWhole(file, after);
}
