// Where the two files of a project lie: below the project, or where the record of served folders says. Only the daemon writes the
// record, next to config.json, where it outlives the state directory; hooks and commands obey it, whatever their environment says.

import { lstat, mkdir, readdir, readFile, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { mailboxFolder } from '../../protocol/files.ts';
import { projectKey } from '../../protocol/ids.ts';
import { findBinding } from '../binding.ts';
import type { Binding, Config } from '../config.ts';
import { writeAtomic } from '../fs/atomic.ts';
import { makeFolderBelow, pathBelow } from '../fs/below.ts';
import { configFiles } from '../paths.ts';

export interface MailboxPlace {
  dir: string;
  inbox: string;
  outbox: string;
  /** True = below the project, so git must ignore it. */
  inProject: boolean;
}

interface BoundFolder {
  /** Real path. */
  dir: string;
  /** Null = `mailboxFolder` of the project. */
  mailboxDir: string | null;
  /** First time that this folder was served with this mailbox folder. */
  at: number;
}

interface BoundProject {
  mailbox: string;
  project: number;
  /** False = a later daemon does not serve the project. */
  served?: boolean;
  /** The folder that is served now, or was served last, comes first. */
  folders: BoundFolder[];
}

export interface Served {
  binding: Binding;
  /** Undefined = no daemon has served the project yet. */
  place(): Promise<MailboxPlace | undefined>;
}

/** The oldest folders beyond this number are forgotten. */
const foldersKept = 50;

/** `override` = a folder in place of `mailboxFolder` of the project. Reads only: an unusable place fails when it is opened. */
export async function locateMailbox(projectDir: string, override: string | undefined): Promise<MailboxPlace> {
  const inProject = override === undefined;
  const dir = await (inProject ? pathBelow(projectDir, mailboxFolder) : pathBelow(override));
  return { dir, inbox: join(dir, 'wa_inbox.json'), outbox: join(dir, 'wa_outbox.json'), inProject };
}

/**
 * Creates the folder before a write, but never a missing project; each access looks anew where the folder leads. Errors:
 * `outside_project`, `file_unusable`.
 */
export async function ensureMailbox(place: MailboxPlace, projectDir: string): Promise<void> {
  if ((await lstat(place.dir).catch(() => undefined))?.isDirectory()) return;
  if (place.inProject && !(await lstat(projectDir).catch(() => undefined))) throw projectGone(projectDir);
  await makeFolderBelow(place.dir);
}

export function projectGone(projectDir: string): WaError {
  return new WaError('file_unusable', `the project folder ${projectDir} does not exist`, {
    hint: 'If it was moved, correct its "dir" in config.json, then run `wa-sync down` and start wa-sync again.',
  });
}

/** The bound project of a folder or of a folder above it; undefined = not bound. Reads only. */
export async function findServed(cwd: string, { bindings, dirs }: Config): Promise<Served | undefined> {
  const bound = bindings.length > 0 ? bindings : await boundBefore(dirs.config);
  const binding = await findBinding(cwd, bound);
  if (!binding) return undefined;
  const place = async () => {
    const folder = await boundFolder(dirs.config, binding);
    return folder && locateMailbox(binding.dir, folder.mailboxDir ?? undefined);
  };
  return { binding, place };
}

/** The mailbox folder that the last daemon of this folder used; undefined = no daemon has served the folder. */
export async function boundFolder(configDir: string, binding: Binding): Promise<BoundFolder | undefined> {
  const { known, dir } = await recordOf(configDir, binding);
  return known?.folders.find((each) => each.dir === dir);
}

/** Records that the folder is served with this mailbox folder. Errors: `file_unusable`. */
export async function rememberBound(
  configDir: string,
  binding: Binding,
  mailboxDir: string | null,
  now: number,
): Promise<void> {
  const { path, known, dir } = await recordOf(configDir, binding);
  const { folders: earlier = [] } = known ?? {};
  const [first] = earlier;
  if (known?.served !== false && first?.dir === dir && first.mailboxDir === mailboxDir) return;
  const same = earlier.find((each) => each.dir === dir && each.mailboxDir === mailboxDir);
  const others = earlier.filter((each) => each.dir !== dir);
  const folders = [same ?? { dir, mailboxDir, at: now }, ...others].slice(0, foldersKept);
  await mkdir(configFiles(configDir).bound, { recursive: true, mode: 0o700 }).catch(() => {});
  await writeBound(path, { mailbox: binding.mailbox, project: binding.project, folders });
}

/** Removes the folder from the record, as if it had never been served. Errors: `file_unusable`. */
export async function forgetBound(configDir: string, binding: Binding): Promise<void> {
  const { path, known, dir } = await recordOf(configDir, binding);
  const folders = known?.folders.filter((each) => each.dir !== dir) ?? [];
  if (known && folders.length < known.folders.length) await writeBound(path, { ...known, folders });
}

/** Marks all other projects as not served, because a hook without config.json trusts this record. Errors: `file_unusable`. */
export async function retireOthers(configDir: string, served: readonly Binding[]): Promise<void> {
  const keys = served.map(({ mailbox, project }) => projectKey(mailbox, project));
  for (const path of await boundPaths(configDir)) {
    const known = await readBound(path);
    const isServed = keys.includes(basename(path, '.json'));
    if (known && !isServed && known.served !== false) await writeBound(path, { ...known, served: false });
  }
}

async function writeBound(path: string, content: BoundProject): Promise<void> {
  await writeAtomic(path, `${JSON.stringify(content)}\n`);
}

/** The folder in which each project was served last, for a config.json without bindings. */
async function boundBefore(configDir: string): Promise<Binding[]> {
  const known = await Promise.all((await boundPaths(configDir)).map(readBound));
  return known.flatMap((each) =>
    each?.folders[0] && each.served !== false
      ? { dir: each.folders[0].dir, mailbox: each.mailbox, project: each.project }
      : [],
  );
}

async function boundPaths(configDir: string): Promise<string[]> {
  const { bound } = configFiles(configDir);
  const names = await readdir(bound).catch(() => []);
  return names.filter((name) => name.endsWith('.json')).map((name) => join(bound, name));
}

async function readBound(path: string): Promise<BoundProject | undefined> {
  try {
    const value = JSON.parse(await readFile(path, 'utf8')) as BoundProject;
    const isFolder = ({ dir, mailboxDir }: BoundFolder) =>
      typeof dir === 'string' && (mailboxDir === null || typeof mailboxDir === 'string');
    return typeof value.mailbox === 'string' && value.folders.every(isFolder) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** `dir` = the real path of the folder, the name by which the record knows it. */
async function recordOf(configDir: string, { dir, mailbox, project }: Binding) {
  const path = join(configFiles(configDir).bound, `${projectKey(mailbox, project)}.json`);
  return { path, known: await readBound(path), dir: await realpath(dir).catch(() => dir) };
}
