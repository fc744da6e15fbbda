// Where the paths of a call really lead: links followed as far as the path exists. Reads the file system, changes nothing.

import { readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { readLinked } from '../files/raw-file.ts';
import { commandOf, pathArguments, pathWords, type Surroundings, type ToolCall } from './builtin.ts';
import { withKnownFolders } from './paths.ts';

/** More words than a person reads; the rest is judged by its text alone. */
const maxPaths = 200;
const maxShownBytes = 200_000;

export async function lookAround(
  call: ToolCall,
  fixed: Omit<Surroundings, 'cwd' | 'resolved'>,
  cwd: string,
): Promise<Surroundings> {
  const command = commandOf(call);
  const words = [...pathArguments(call), ...(command === undefined ? [] : pathWords(command))].slice(0, maxPaths);
  const resolved = new Map<string, readonly string[]>();
  for (const word of new Set(words)) {
    const path = resolve(cwd, withKnownFolders(word, { ...fixed, cwd }).replace(/^file:\/\//, ''));
    resolved.set(word, [await realPathOf(path)]);
  }
  const own = await Promise.all(fixed.own.map(realPathOf));
  return { ...fixed, own: [...new Set([...fixed.own, ...own])], cwd, resolved };
}

/** As many as Linux follows. */
const maxLinks = 40;

/** Of the deepest part that exists, and the rest as written. A link to what does not exist yet leads there: writing makes it. */
async function realPathOf(path: string): Promise<string> {
  const rest: string[] = [];
  let links = 0;
  for (let at = path; ; ) {
    const real = await realpath(at).catch(() => undefined);
    if (real !== undefined) return join(real, ...rest);
    const parent = dirname(at);
    if (parent === at) return path;
    const target = await readlink(at).catch(() => undefined);
    if (target !== undefined && links < maxLinks) {
      links += 1;
      at = resolve(await realpath(parent).catch(() => parent), target);
    } else {
      rest.unshift(basename(at));
      at = parent;
    }
  }
}

/** What a tool that writes a whole file would replace; undefined = nothing there, or nothing that can be shown. */
export async function fileNow({ input }: ToolCall, cwd: string): Promise<string | undefined> {
  if (typeof input.file_path !== 'string' || typeof input.content !== 'string') return undefined;
  const path = resolve(cwd, input.file_path);
  const file = await readLinked(path, maxShownBytes).catch(() => undefined);
  return file && !file.oversized ? file.bytes.toString('utf8') : undefined;
}
