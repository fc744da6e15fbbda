// Where a project's two files lie, and whether they may be used: never through a link out of the project, never a thing
// that is no ordinary file.

import { appendFile, chmod, lstat, mkdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { fileUnusable, sweepTemporary } from './atomic.ts';

export interface MailboxPlace {
  dir: string;
  inbox: string;
  outbox: string;
  /** True = below the project, so git must ignore it. */
  inProject: boolean;
}

/** Errors: `outside_project` when `.gemini` leaves the project by a link. Creates nothing. */
export async function locateMailbox(options: {
  projectDir: string;
  override: string | undefined;
}): Promise<MailboxPlace> {
  const dir = options.override ?? join(options.projectDir, '.gemini');
  const inProject = options.override === undefined;
  if (inProject) await refuseOutside(options.projectDir, dir);
  return { dir, inbox: join(dir, 'wa_inbox.json'), outbox: join(dir, 'wa_outbox.json'), inProject };
}

async function refuseOutside(projectDir: string, dir: string): Promise<void> {
  const info = await lstat(dir).catch(() => undefined);
  if (!info) return;
  const project = await realpath(projectDir);
  const real = await realpath(dir).catch(() => undefined);
  const inside = real !== undefined && (real + sep).startsWith(project.endsWith(sep) ? project : project + sep);
  if (inside) return;
  throw new WaError(
    'outside_project',
    `${dir} is a link that leaves the project${real ? `, to ${real}` : ', to nowhere'}`,
    {
      hint: `Remove the link ${dir}, or set WA_MAILBOX_DIR to the folder that you want.`,
    },
  );
}

/** Before every write: the folder is there. A project that is gone is not made again. Errors: `outside_project`, `file_unusable`. */
export async function ensureMailbox(place: MailboxPlace, projectDir: string): Promise<void> {
  if (place.inProject) await refuseOutside(projectDir, place.dir);
  try {
    const known = await stat(place.dir).catch(() => undefined);
    if (known && !known.isDirectory()) {
      throw new WaError('file_unusable', `${place.dir} is not a folder`, {
        hint: `Move ${place.dir} away, or set WA_MAILBOX_DIR to a folder.`,
      });
    }
    if (!known) {
      if (place.inProject && !(await exists(projectDir))) {
        throw projectGone(projectDir);
      }
      await mkdir(place.dir, { recursive: true, mode: 0o700 });
      await chmod(place.dir, 0o700);
    }
  } catch (cause) {
    throw cause instanceof WaError ? cause : fileUnusable(place.dir, cause);
  }
}

export function projectGone(projectDir: string): WaError {
  return new WaError('file_unusable', `the project folder ${projectDir} is not there`, {
    hint: 'If it was moved, correct its "dir" in config.json, then run `wa-sync down` and start wa-sync again.',
  });
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Once per start: the exclusion in git, and what killed writers left. Never throws. */
export async function tidyMailbox(place: MailboxPlace, projectDir: string, now: number): Promise<void> {
  if (place.inProject) await excludeFromGit(projectDir).catch(() => {});
  await sweepTemporary(place.dir, now);
}

/**
 * Also for a project in a sub-folder of the repository, and for the names that a write has for a moment. The project's
 * policy is its own file, to be committed.
 */
const excludedPatterns = ['**/.gemini/wa_*', '!**/.gemini/wa_policy.json', '**/.gemini/.wa-tmp-*'];

/** Before the first file is: `.git/info/exclude` of the repository that the project lies in, also from a sub-folder and from a worktree. */
export async function excludeFromGit(projectDir: string): Promise<void> {
  const gitDir = await findGitDir(projectDir);
  if (!gitDir) return;
  const path = join(gitDir, 'info', 'exclude');
  const text = await readFile(path, 'utf8').catch(() => '');
  const lines = new Set(text.split(/\r?\n/));
  const missing = excludedPatterns.filter((pattern) => !lines.has(pattern));
  if (missing.length === 0) return;
  await mkdir(dirname(path), { recursive: true });
  await appendFile(path, `${text === '' || text.endsWith('\n') ? '' : '\n'}${missing.join('\n')}\n`);
}

async function findGitDir(from: string): Promise<string | undefined> {
  for (let dir = from; ; dir = dirname(dir)) {
    const path = join(dir, '.git');
    const info = await stat(path).catch(() => undefined);
    if (info?.isDirectory()) return path;
    if (info?.isFile()) return commonDir(path);
    if (dirname(dir) === dir) return undefined;
  }
}

/** A worktree's `.git` is a file that names its own git folder, which names the common one: only that one's exclude counts. */
async function commonDir(gitFile: string): Promise<string | undefined> {
  const named = /^gitdir: (.+)$/m.exec(await readFile(gitFile, 'utf8'))?.[1]?.trim();
  if (!named) return undefined;
  const own = isAbsolute(named) ? named : resolve(dirname(gitFile), named);
  const common = await readFile(join(own, 'commondir'), 'utf8').catch(() => undefined);
  return common === undefined ? own : resolve(own, common.trim());
}
