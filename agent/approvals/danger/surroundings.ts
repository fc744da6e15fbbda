// Where the paths of a call really lead: links followed as far as the path exists. Reads the file system, changes nothing.

import { readlink, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { readLinked } from '../../fs/raw-file.ts';
import { besideUnit, type Directories, serviceFiles } from '../../paths.ts';
import { maxPaths, pathsOf, type ToolCall, toolsOf } from './call.ts';
import type { Surroundings } from './rules.ts';

const maxShownBytes = 200_000;

type Variables = Partial<Record<'XDG_CONFIG_HOME' | 'XDG_DATA_HOME', readonly string[]>>;

/** What a daemon knows of the variables in a command: where its own directories come from, on this machine. */
function knownVariables(dirs: Directories, home: string): Variables & Record<string, readonly string[]> {
  const base = (dir: string, usual: string) => [
    ...new Set([basename(dir) === 'wa-sync' ? dirname(dir) : usual, usual]),
  ];
  return {
    WA_CONFIG_DIR: [dirs.config],
    WA_STATE_DIR: [dirs.state],
    WA_RUNTIME_DIR: [dirs.runtime],
    XDG_CONFIG_HOME: base(dirs.config, join(home, '.config')),
    XDG_STATE_HOME: base(dirs.state, join(home, '.local', 'state')),
    XDG_DATA_HOME: base(dirs.data, join(home, '.local', 'share')),
    XDG_CACHE_HOME: base(dirs.cache, join(home, '.cache')),
    XDG_RUNTIME_DIR: base(dirs.runtime, join(home, '.local', 'state')),
    TMPDIR: [tmpdir()],
    USER: [basename(home)],
    LOGNAME: [basename(home)],
  };
}

/** What the rules know of this machine, whatever is judged. */
export function knownPlaces(
  dirs: Directories,
  home: string,
): { home: string; own: string[]; variables: Record<string, readonly string[]> } {
  // The cache holds nothing that guards.
  const own = Object.values(dirs).filter((dir) => dir !== dirs.cache);
  const variables = knownVariables(dirs, home);
  return { home, own: [...own, ...servicePlaces(home, variables)], variables };
}

/** Who writes there decides what the service runs, and as whom. */
function servicePlaces(home: string, { XDG_CONFIG_HOME = [], XDG_DATA_HOME = [] }: Variables): string[] {
  const units = [...XDG_CONFIG_HOME, ...XDG_DATA_HOME].map((base) => join(base, ...serviceFiles.unit));
  return [
    ...units.flatMap((unit) => [unit, ...besideUnit.map((name) => join(dirname(unit), name))]),
    join(home, ...serviceFiles.plist),
    // On Windows the configuration lies in %APPDATA%.
    ...XDG_CONFIG_HOME.map((base) => join(base, ...serviceFiles.startup)),
  ];
}

/** Looks at no more paths than `maxPaths`; a call with more is found too long. */
export async function lookAround(
  call: ToolCall,
  fixed: Omit<Surroundings, 'cwd' | 'resolved'>,
  cwd: string,
): Promise<Surroundings> {
  const paths = [...pathsOf(call, { ...fixed, cwd })].slice(0, maxPaths);
  const { leadsTo, folderOf } = linkReader();
  const [places, own] = await Promise.all([
    Promise.all(paths.map(([, path]) => leadsTo(resolve(path)))),
    Promise.all(fixed.own.map(async (dir) => (await folderOf(dir)).path)),
  ]);
  const resolved = new Map(paths.map(([word], at) => [word, [places[at] as string]]));
  return { ...fixed, own: [...new Set([...fixed.own, ...own])], cwd, resolved };
}

/** As many as Linux follows. */
const maxLinks = 40;

interface Folder {
  path: string;
  exists: boolean;
}

/**
 * Follows links as far as a path exists; the rest stays as written. A link to what does not exist yet leads there, because writing makes
 * that. Looks at each folder once, and at nothing below a missing one: many paths cost no more than the folders that they have in common.
 */
function linkReader() {
  const folders = new Map<string, Promise<Folder>>();

  function folderOf(path: string, links = 0): Promise<Folder> {
    // By the number of links as well: without it two links that lead to one another would wait for one another.
    const key = `${links} ${path}`;
    const known = folders.get(key) ?? lookAtFolder(path, links);
    folders.set(key, known);
    return known;
  }

  async function lookAtFolder(path: string, links: number): Promise<Folder> {
    const parent = dirname(path);
    const isBelowMissing = parent !== path && !(await folderOf(parent, links)).exists;
    const real = isBelowMissing ? undefined : await realpath(path).catch(() => undefined);
    return real === undefined ? { path: await leadsTo(path, links), exists: false } : { path: real, exists: true };
  }

  async function leadsTo(path: string, links = 0): Promise<string> {
    const parent = dirname(path);
    if (parent === path) return path;
    const above = await folderOf(parent, links);
    // Without a look at all that stands before it: a name may have thousands of folders.
    if (!above.exists) return `${above.path}${sep}${basename(path)}`;
    const below = join(above.path, basename(path));
    const target = links < maxLinks ? await readlink(below).catch(() => undefined) : undefined;
    return target === undefined ? below : (await folderOf(resolve(above.path, target), links + 1)).path;
  }

  return { leadsTo, folderOf };
}

/** What a tool that writes a whole file would replace; undefined = nothing there, or nothing that can be shown. */
export async function fileNow({ agent, input }: ToolCall, cwd: string): Promise<string | undefined> {
  const write = toolsOf(agent).write(input);
  if (!write) return undefined;
  const path = resolve(cwd, write.file);
  const file = await readLinked(path, maxShownBytes).catch(() => undefined);
  return file && !file.oversized ? file.bytes.toString('utf8') : undefined;
}
