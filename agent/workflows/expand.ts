// Expands a slash text from the phone that names a workflow, custom command or skill. Follows no link out of the project; links in
// the home folder belong to the user. Runs nothing: the coding agent runs `!{…}` and reads `@{…}`, so approvals hold.

import { realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { readSlash } from '../../protocol/commands.ts';
import { WaError } from '../../protocol/errors.ts';
import type { Footprint, WorkflowFolder } from '../drivers/footprint.ts';
import { ofFootprints } from '../drivers/footprints.ts';
import { fileUnusable } from '../fs/atomic.ts';
import { namesBelow, readBelow } from '../fs/below.ts';
import { readLinked } from '../fs/raw-file.ts';

export interface Expansion {
  name: string;
  text: string;
}

export interface WorkflowDirs {
  project: string;
  home: string;
  /** Called for a file of this name that must not be used. */
  onRefused?(why: Error): void;
}

interface Source {
  dir: string;
  /** The folder that the source may not leave. Undefined = the source belongs to the user. */
  within?: string;
  kind: WorkflowFolder['kind'];
}

/** More than a person writes; a larger file is refused. */
const maxWorkflowBytes = 256 * 1024;

/** Folders of a project that belong to no coding agent. */
const shared: readonly Pick<Footprint, 'folder' | 'workflows'>[] = [
  {
    folder: '.agents',
    workflows: [
      { path: 'workflows', kind: 'markdown', only: 'project' },
      { path: 'skills', kind: 'skill', only: 'project' },
    ],
  },
  { folder: '.agent', workflows: [{ path: 'workflows', kind: 'markdown', only: 'project' }] },
];

/** Skills come last. */
const workflowFolders = ofFootprints((all) => {
  const found = [...shared, ...all].flatMap(({ folder, workflows }) =>
    workflows.map((each) => ({ ...each, path: join(folder, each.path) })),
  );
  return [...found.filter(({ kind }) => kind !== 'skill'), ...found.filter(({ kind }) => kind === 'skill')];
});

/** In order of preference: the project's own before the user's. */
function sources({ project, home }: WorkflowDirs): Source[] {
  const notIn = (place: WorkflowFolder['only']) => workflowFolders().filter(({ only }) => only !== place);
  return [
    ...notIn('home').map(({ kind, path }) => ({ kind, dir: join(project, path), within: project })),
    ...notIn('project').map(({ kind, path }) => ({ kind, dir: join(home, path) })),
  ];
}

/** Undefined = an ordinary message: not a slash text, or an unknown name. */
export async function expandSlashText(text: string, dirs: WorkflowDirs): Promise<Expansion | undefined> {
  const call = parseSlash(text);
  if (!call) return undefined;
  for (const source of sources(dirs)) {
    const found = await readWorkflow(source, call.path).catch((why) => dirs.onRefused?.(why));
    const body = typeof found !== 'string' ? undefined : expandBody(source.kind, found, call.args);
    if (body !== undefined) return { name: `/${call.name}`, text: body };
  }
  return undefined;
}

/** The skills in the folders of the project and of the user, by the name that a slash text calls. What cannot be read is left out. */
export async function listSkills(dirs: WorkflowDirs): Promise<{ name: string; source: string }[]> {
  const found = new Map<string, string>();
  for (const source of sources(dirs).filter(({ kind }) => kind === 'skill')) {
    for (const name of await skillNames(source).catch(() => [])) {
      const place = relative(source.within ?? dirs.home, source.dir);
      if (!found.has(name)) found.set(name, source.within === undefined ? `~/${place}` : place);
    }
  }
  return [...found].map(([name, source]) => ({ name, source }));
}

async function skillNames(source: Source): Promise<string[]> {
  const dir = await folderOf(source);
  if (dir === undefined) return [];
  const read = source.within === undefined ? readLinked : readBelow;
  const names = await namesBelow(dir, (name) => readSlash(`/${name}`)?.name === name);
  const texts = await Promise.all(
    names.map((name) => readSmall(join(dir, name, 'SKILL.md'), read).catch(() => undefined)),
  );
  return names.filter((_, index) => texts[index] !== undefined).sort();
}

/** `a:b` names the file `a/b`. A name cannot leave its folder. */
function parseSlash(text: string): { name: string; path: string[]; args: string } | undefined {
  const call = readSlash(text);
  return call && { ...call, path: call.name.split(':') };
}

/** Undefined = an unknown name. Errors: `outside_project`, `file_unusable`. */
async function readWorkflow(source: Source, path: string[]): Promise<string | undefined> {
  const dir = await folderOf(source);
  if (dir === undefined) return undefined;
  const read = source.within === undefined ? readLinked : readBelow;
  if (source.kind === 'skill') return readSmall(join(dir, ...path, 'SKILL.md'), read);
  const extension = source.kind === 'toml' ? '.toml' : '.md';
  const found = await readSmall(`${join(dir, ...path)}${extension}`, read);
  if (found !== undefined) return found;
  // Phones capitalise the first word of a message.
  const wanted = `${path.at(-1)}${extension}`.toLowerCase();
  const folder =
    source.within === undefined ? await realFolder(join(dir, ...path.slice(0, -1))) : join(dir, ...path.slice(0, -1));
  const [name] = folder === undefined ? [] : await namesBelow(folder, (each) => each.toLowerCase() === wanted);
  return name === undefined || folder === undefined ? undefined : readSmall(join(folder, name), read);
}

/** The real path. Errors: `outside_project` when a link leads out of the project. */
async function folderOf({ dir, within }: Source): Promise<string | undefined> {
  const real = await realFolder(dir);
  const root = within === undefined ? undefined : await realFolder(within);
  if (real === undefined || root === undefined || `${real}${sep}`.startsWith(root.endsWith(sep) ? root : root + sep)) {
    return real;
  }
  throw new WaError('outside_project', `${dir} is a link that leaves the project, to ${real}`, {
    hint: `Replace the link ${dir} by a folder.`,
  });
}

function realFolder(dir: string): Promise<string | undefined> {
  return realpath(dir).catch((cause) => {
    if (cause.code === 'ENOENT' || cause.code === 'ELOOP') return undefined;
    throw fileUnusable(dir, cause);
  });
}

async function readSmall(path: string, read: typeof readBelow | typeof readLinked): Promise<string | undefined> {
  const file = await read(path, maxWorkflowBytes);
  if (!file) return undefined;
  if (!file.oversized) return file.bytes.toString('utf8').replace(/^\uFEFF/, '');
  throw new WaError('file_unusable', `${path} has ${file.sizeBytes} bytes, a workflow at most ${maxWorkflowBytes}`, {
    hint: `Shorten ${path}.`,
  });
}

function expandBody(kind: Source['kind'], content: string, args: string): string | undefined {
  if (kind === 'toml') return expandToml(content, args);
  const body = content.replace(/^---\r?\n[\s\S]*?\r?\n---[ \t]*(?:\r?\n|$)/, '').trim();
  return body === '' ? undefined : withArgs(body, '$ARGUMENTS', args, 'Arguments: ');
}

function expandToml(content: string, args: string): string | undefined {
  let prompt: unknown;
  try {
    prompt = parseToml(content).prompt;
  } catch {
    return undefined;
  }
  if (typeof prompt !== 'string' || prompt.trim() === '') return undefined;
  const text = withArgs(prompt, '{{args}}', args, '').trim();
  if (!/[!@]\{/.test(text)) return text;
  return `${text}\n\n(wa-sync has not run what stands in !{…} and not read what stands in @{…}: run or read it with your own tools where the task needs it.)`;
}

function withArgs(body: string, mark: string, args: string, label: string): string {
  if (body.includes(mark)) return body.replaceAll(mark, () => args);
  return args === '' ? body : `${body}\n\n${label}${args}`;
}
