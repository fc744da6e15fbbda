// A slash text of the phone that names a workflow, custom command or skill of the project becomes that text for the model.
// Reads files below the project and the home; runs nothing: `!{…}` and `@{…}` are left to the coding agent, so approvals hold.

import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parse as parseToml } from 'smol-toml';

export interface Expansion {
  name: string;
  text: string;
}

export interface WorkflowDirs {
  project: string;
  home: string;
}

interface Source {
  dir: string;
  kind: 'markdown' | 'toml' | 'skill';
}

/** More than a person writes; a larger file is no workflow. */
const maxWorkflowBytes = 256 * 1024;

/** In order of preference: the project's own before the user's. */
function sources({ project, home }: WorkflowDirs): Source[] {
  return [
    { dir: join(project, '.agents', 'workflows'), kind: 'markdown' },
    { dir: join(project, '.agent', 'workflows'), kind: 'markdown' },
    { dir: join(project, '.gemini', 'commands'), kind: 'toml' },
    { dir: join(project, '.claude', 'commands'), kind: 'markdown' },
    { dir: join(project, '.agents', 'skills'), kind: 'skill' },
    { dir: join(project, '.gemini', 'skills'), kind: 'skill' },
    { dir: join(project, '.claude', 'skills'), kind: 'skill' },
    { dir: join(home, '.gemini', 'antigravity', 'global_workflows'), kind: 'markdown' },
    { dir: join(home, '.gemini', 'commands'), kind: 'toml' },
    { dir: join(home, '.claude', 'commands'), kind: 'markdown' },
    { dir: join(home, '.gemini', 'skills'), kind: 'skill' },
    { dir: join(home, '.claude', 'skills'), kind: 'skill' },
  ];
}

/** Undefined = no slash text, or nothing of that name: the text is an ordinary message. */
export async function expandSlashText(text: string, dirs: WorkflowDirs): Promise<Expansion | undefined> {
  const call = parseSlash(text);
  if (!call) return undefined;
  for (const source of sources(dirs)) {
    const found = await readWorkflow(source, call.path);
    const body = found === undefined ? undefined : expandBody(source.kind, found, call.args);
    if (body !== undefined) return { name: `/${call.name}`, text: body };
  }
  return undefined;
}

/** `/name args`; `a:b` names the file `a/b`. A name cannot leave its folder. */
function parseSlash(text: string): { name: string; path: string[]; args: string } | undefined {
  const match = /^\/([\p{L}\p{N}_][\p{L}\p{N}_.-]*(?::[\p{L}\p{N}_][\p{L}\p{N}_.-]*)*)(?:\s+([\s\S]*))?$/u.exec(
    text.trim(),
  );
  if (!match?.[1]) return undefined;
  return { name: match[1], path: match[1].split(':'), args: match[2]?.trim() ?? '' };
}

async function readWorkflow({ dir, kind }: Source, path: string[]): Promise<string | undefined> {
  if (kind === 'skill') return readSmall(join(dir, ...path, 'SKILL.md'));
  const extension = kind === 'toml' ? '.toml' : '.md';
  return (
    (await readSmall(`${join(dir, ...path)}${extension}`)) ??
    // Phones capitalise the first word of a message.
    (await readIgnoringCase(dir, path, extension))
  );
}

async function readIgnoringCase(dir: string, path: string[], extension: string): Promise<string | undefined> {
  const folder = join(dir, ...path.slice(0, -1));
  const wanted = `${path.at(-1)}${extension}`.toLowerCase();
  const names = await readdir(folder).catch(() => []);
  const name = names.find((each) => each.toLowerCase() === wanted);
  return name === undefined ? undefined : readSmall(join(folder, name));
}

async function readSmall(file: string): Promise<string | undefined> {
  try {
    const info = await stat(file);
    if (!info.isFile() || info.size > maxWorkflowBytes) return undefined;
    return (await readFile(file, 'utf8')).replace(/^\uFEFF/, '');
  } catch {
    return undefined;
  }
}

function expandBody(kind: Source['kind'], content: string, args: string): string | undefined {
  if (kind === 'toml') return expandToml(content, args);
  const body = content.replace(/^---\r?\n[\s\S]*?\r?\n---[ \t]*(?:\r?\n|$)/, '').trim();
  if (body === '') return undefined;
  if (body.includes('$ARGUMENTS')) return body.replaceAll('$ARGUMENTS', () => args);
  return args === '' ? body : `${body}\n\nArguments: ${args}`;
}

function expandToml(content: string, args: string): string | undefined {
  let prompt: unknown;
  try {
    prompt = parseToml(content).prompt;
  } catch {
    return undefined;
  }
  if (typeof prompt !== 'string' || prompt.trim() === '') return undefined;
  const text = prompt.includes('{{args}}')
    ? prompt.replaceAll('{{args}}', () => args)
    : args === ''
      ? prompt
      : `${prompt}\n\n${args}`;
  if (!/[!@]\{/.test(text)) return text.trim();
  return `${text.trim()}\n\n(wa-sync has not run what stands in !{…} and not read what stands in @{…}: run or read it with your own tools where the task needs it.)`;
}
