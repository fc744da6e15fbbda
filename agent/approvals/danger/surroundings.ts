// Where the paths of a call really lead: links followed as far as the path exists. Reads the file system, changes nothing.

import { readlink, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { readLinked } from '../../files/raw-file.ts';
import type { Directories } from '../../paths.ts';
import { maxPaths, pathsOf, type ToolCall, toolsOf } from './call.ts';
import type { Surroundings } from './rules.ts';

const maxShownBytes = 200_000;

/** What a daemon knows of the variables in a command: where its own directories come from, on this machine. */
function knownVariables(dirs: Directories, home: string): Record<string, readonly string[]> {
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
  return { home, own, variables: knownVariables(dirs, home) };
}

/** Looks at no more paths than `maxPaths`; a call with more is found too long. */
export async function lookAround(
  call: ToolCall,
  fixed: Omit<Surroundings, 'cwd' | 'resolved'>,
  cwd: string,
): Promise<Surroundings> {
  const paths = [...pathsOf(call, { ...fixed, cwd })].slice(0, maxPaths);
  const folders = new Map<string, Promise<string | undefined>>();
  const realOf = (path: string) => realPathOf(path, folders);
  const [places, own] = await Promise.all([
    Promise.all(paths.map(([, path]) => realOf(resolve(path)))),
    Promise.all(fixed.own.map(realOf)),
  ]);
  const resolved = new Map(paths.map(([word], at) => [word, [places[at] as string]]));
  return { ...fixed, own: [...new Set([...fixed.own, ...own])], cwd, resolved };
}

/** As many as Linux follows. */
const maxLinks = 40;

/** Of the deepest part that exists, and the rest as written. A link to what does not exist yet leads there: writing makes it. */
async function realPathOf(path: string, known: Map<string, Promise<string | undefined>>): Promise<string> {
  const rest: string[] = [];
  let links = 0;
  // The paths of one call lie in the same few folders.
  const realOf = (at: string) => {
    const real = known.get(at) ?? realpath(at).catch(() => undefined);
    known.set(at, real);
    return real;
  };
  for (let at = path; ; ) {
    const real = await realOf(at);
    if (real !== undefined) return join(real, ...rest);
    const parent = dirname(at);
    if (parent === at) return path;
    const target = await readlink(at).catch(() => undefined);
    if (target !== undefined && links < maxLinks) {
      links += 1;
      at = resolve((await realOf(parent)) ?? parent, target);
    } else {
      rest.unshift(basename(at));
      at = parent;
    }
  }
}

/** What a tool that writes a whole file would replace; undefined = nothing there, or nothing that can be shown. */
export async function fileNow({ agent, input }: ToolCall, cwd: string): Promise<string | undefined> {
  const write = toolsOf(agent).write(input);
  if (!write) return undefined;
  const path = resolve(cwd, write.file);
  const file = await readLinked(path, maxShownBytes).catch(() => undefined);
  return file && !file.oversized ? file.bytes.toString('utf8') : undefined;
}
