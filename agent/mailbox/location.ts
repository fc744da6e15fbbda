// Where a project's two files lie, that git ignores them, and what killed writers left in their folder. Opens every file through below.ts.

import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { mailboxFolder } from '../../protocol/files.ts';
import { temporaryForm } from '../fs/atomic.ts';
import { appendBelow, filesBelow, makeFolderBelow, pathBelow, readBelow, removeBelow } from '../fs/below.ts';
import { findGitFolder } from '../fs/git-folder.ts';
import { isAlive } from '../process.ts';

export interface MailboxPlace {
  dir: string;
  inbox: string;
  outbox: string;
  /** True = below the project, so git must ignore it. */
  inProject: boolean;
}

/** Creates and refuses nothing: an unusable place fails when it is opened. */
export async function locateMailbox(options: {
  projectDir: string;
  override: string | undefined;
}): Promise<MailboxPlace> {
  const { projectDir, override } = options;
  const inProject = override === undefined;
  const dir = await (inProject ? pathBelow(projectDir, mailboxFolder) : pathBelow(override));
  return { dir, inbox: join(dir, 'wa_inbox.json'), outbox: join(dir, 'wa_outbox.json'), inProject };
}

/** Creates the folder before a write, but never a missing project. Errors: `outside_project`, `file_unusable`. */
export async function ensureMailbox(place: MailboxPlace, projectDir: string): Promise<void> {
  if (place.inProject && !(await exists(place.dir)) && !(await exists(projectDir))) throw projectGone(projectDir);
  await makeFolderBelow(place.dir);
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

/** Once per start: excludes the files from git, and removes what killed writers left. Never throws. */
export async function tidyMailbox(place: MailboxPlace, projectDir: string, now: number): Promise<void> {
  if (place.inProject) await excludeFromGit(projectDir).catch(() => {});
  await sweepTemporary(place.dir, now);
}

const abandonedAfterMs = 3_600_000;

/** Removes the temporary files of killed writers, and touches no other name. Never throws. */
export async function sweepTemporary(dir: string, now: number): Promise<void> {
  const left = await filesBelow(dir, (name) => temporaryForm.test(name)).catch(() => []);
  for (const { name, modifiedAtMs } of left) {
    // The file of a writer that the sleep of the machine interrupted is old, and its process is alive.
    const pid = temporaryForm.exec(name)?.[1];
    if (pid !== undefined && isAlive(Number(pid))) continue;
    if (now - modifiedAtMs > abandonedAfterMs) await removeBelow(join(dir, name)).catch(() => {});
  }
}

/**
 * The patterns also fit a project in a sub-folder of the repository, and the temporary names of a write. The policy of a project is
 * meant to be committed.
 */
const excludedPatterns = ['wa_*', '!wa_policy.json', '.wa-tmp-*'].map((name) =>
  name.replace(/^!?/, (mark) => `${mark}**/${mailboxFolder}/`),
);

/** Larger than any exclude file that a person writes. */
const maxExcludeBytes = 1024 * 1024;

/** Adds the patterns to `.git/info/exclude` of the repository of the project, also from a sub-folder and from a worktree. */
export async function excludeFromGit(projectDir: string): Promise<void> {
  const gitDir = await findGitFolder(projectDir);
  if (!gitDir) return;
  const path = join(gitDir, 'info', 'exclude');
  await makeFolderBelow(dirname(path), 0o755);
  const file = await readBelow(path, maxExcludeBytes);
  if (file?.oversized) return;
  const text = file?.bytes.toString('utf8') ?? '';
  const lines = new Set(text.split(/\r?\n/));
  const missing = excludedPatterns.filter((pattern) => !lines.has(pattern));
  if (missing.length === 0) return;
  await appendBelow(path, `${text === '' || text.endsWith('\n') ? '' : '\n'}${missing.join('\n')}\n`);
}
