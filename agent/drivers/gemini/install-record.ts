// `<data>/hooks/installed.json`: what an installation created and where, so that its removal leaves no trace. Only a memory: the
// places themselves tell whether something is installed.

import { join } from 'node:path';
import { makeFolder, readText, removeTree, writeWhole } from './install-files.ts';

/** What did not exist in a project before the installation. */
export interface ProjectRecord {
  madeFolder: boolean;
  madeFile: boolean;
  /** Paths of `hooks` and `hooks.<Event>` that were empty before, and are left empty. */
  emptyBefore: string[];
}

export interface InstallRecord {
  /** Topmost folder that was created for the data directory. */
  madeData: string | undefined;
  /** Topmost folder that was created for the extension's entry. */
  madeExtension: string | undefined;
  projects: Record<string, ProjectRecord>;
}

const fileOf = (dataDir: string) => join(dataDir, 'hooks', 'installed.json');

/** A missing or damaged record counts as empty: then nothing counts as created by wa-sync. */
export function readRecord(dataDir: string): InstallRecord {
  const empty: InstallRecord = { madeData: undefined, madeExtension: undefined, projects: {} };
  const text = readText(fileOf(dataDir));
  if (text === undefined) return empty;
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return empty;
    const { madeData, madeExtension, projects } = value;
    const known = Object.entries(isObject(projects) ? projects : {});
    return {
      madeData: typeof madeData === 'string' ? madeData : undefined,
      madeExtension: typeof madeExtension === 'string' ? madeExtension : undefined,
      projects: Object.fromEntries(known.flatMap(([dir, entry]) => (isObject(entry) ? [[dir, project(entry)]] : []))),
    };
  } catch {
    return empty;
  }
}

export function writeRecord(dataDir: string, record: InstallRecord): void {
  const text = `${JSON.stringify(record, null, 2)}\n`;
  if (readText(fileOf(dataDir)) === text) return;
  makeFolder(join(dataDir, 'hooks'));
  writeWhole(fileOf(dataDir), text, 0o600);
}

export function removeRecord(dataDir: string): void {
  removeTree(fileOf(dataDir));
}

function project(entry: Record<string, unknown>): ProjectRecord {
  const empty = Array.isArray(entry.emptyBefore) ? entry.emptyBefore : [];
  return {
    madeFolder: entry.madeFolder === true,
    madeFile: entry.madeFile === true,
    emptyBefore: empty.filter((path): path is string => typeof path === 'string'),
  };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
