// Keeps the files of a mailbox out of git: finds the repository around a folder, tells git to ignore the files, and asks git whether it
// would commit them. Runs git only so that nothing of the repository is executed, and never waits long. Not for hooks.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { mailboxFolder } from '../../protocol/files.ts';
import { appendBelow, makeFolderBelow, pathBelow, readBelow } from './below.ts';
import { readLinked } from './raw-file.ts';

/** What a mailbox folder may hold; the policy is the project's own file, to be committed. */
const mailboxNames = [
  'wa_inbox.json',
  'wa_outbox.json',
  'wa_inbox.json.lock',
  'wa_inbox.json.corrupt-1',
  'wa_outbox.json.lock',
  'wa_outbox.json.corrupt-1',
  'wa_audit.jsonl',
  'wa_audit.jsonl.1',
  'wa_files/any',
  '.wa-tmp-1-any',
];

/** They also fit a project in a sub-folder of the repository. */
const excludedPatterns = [
  `**/${mailboxFolder}/wa_*`,
  `!**/${mailboxFolder}/wa_policy.json`,
  `**/${mailboxFolder}/.wa-tmp-*`,
];

/** Larger than any exclude file that a person writes. */
const maxExcludeBytes = 1024 * 1024;
/** Enough for a path and a few words. */
const maxPointerBytes = 8 * 1024;
const limitMs = 10_000;
const outputBytes = 1024 * 1024;

interface GitFolder {
  /** Of this working tree, with its index. */
  own: string;
  /** Of all working trees of the repository, with `info/exclude`: its real path. */
  common: string;
}

/**
 * The git folder of the working tree with the root `dir`; undefined = `dir` is not a root. Accepts only what git accepts: a `.git` of
 * a project may be anything, and wa-sync writes into the folder that it finds. Never throws.
 */
export async function gitFolderAt(dir: string): Promise<GitFolder | undefined> {
  const path = join(dir, '.git');
  const info = await stat(path).catch(() => undefined);
  // The `.git` of a worktree or submodule is a file that names a folder, and that of a worktree names the common one.
  const named = info?.isFile() ? /^gitdir: (.+)$/m.exec((await readPointer(path)) ?? '')?.[1]?.trim() : undefined;
  const own = named ? resolve(dir, named) : path;
  if (!named && !info?.isDirectory()) return undefined;
  const commonName = named ? await readPointer(join(own, 'commondir')) : undefined;
  const common = resolve(own, commonName?.trim() ?? '.');
  return (await isGitFolder(common)) ? { own, common: await pathBelow(common) } : undefined;
}

async function readPointer(path: string): Promise<string | undefined> {
  const file = await readLinked(path, maxPointerBytes).catch(() => undefined);
  return file && !file.oversized ? file.bytes.toString('utf8') : undefined;
}

/** The check of git: an empty `.git` is not a repository. */
async function isGitFolder(dir: string): Promise<boolean> {
  const isFolder = async (name: string) => (await stat(join(dir, name)).catch(() => undefined))?.isDirectory() === true;
  const head = await lstat(join(dir, 'HEAD')).catch(() => undefined);
  return head !== undefined && !head.isDirectory() && (await isFolder('objects')) && (await isFolder('refs'));
}

/**
 * Of the nearest working tree around `dir`. Most folders above have no `.git`; that is asked without a detour through other threads,
 * which takes fifty times as long, because each look at a mailbox waits for the answer.
 */
async function gitFolderAround(dir: string): Promise<GitFolder | undefined> {
  for (const each of foldersFrom(dir)) {
    const found = existsSync(join(each, '.git')) ? await gitFolderAt(each) : undefined;
    if (found) return found;
  }
  return undefined;
}

/** The folder and those above it, the nearest first. */
function foldersFrom(dir: string): string[] {
  const above = dirname(dir);
  return above === dir ? [dir] : [dir, ...foldersFrom(above)];
}

/** Adds the patterns to `.git/info/exclude` of the repository around the project. Errors: `outside_project`, `file_unusable`. */
export async function excludeFromGit(projectDir: string): Promise<void> {
  const gitFolder = await gitFolderAround(projectDir);
  if (gitFolder) await exclude(gitFolder, excludedPatterns);
}

/** The same for one file of ours; false = no repository is around it. Errors: as above. */
export async function excludeFile(path: string): Promise<boolean> {
  for (const dir of foldersFrom(dirname(path))) {
    const gitFolder = await gitFolderAt(dir);
    if (gitFolder === undefined) continue;
    const inTree = relative(dir, path).split(sep).join('/');
    // What git reads as a pattern stays one character.
    await exclude(gitFolder, [`/${inTree.replace(/[\\*?[\]!# ]/g, '\\$&')}`]);
    return true;
  }
  return false;
}

async function exclude(gitFolder: GitFolder, patterns: readonly string[]): Promise<void> {
  const path = join(gitFolder.common, 'info', 'exclude');
  await makeFolderBelow(dirname(path), 0o755);
  const file = await readBelow(path, maxExcludeBytes);
  if (file?.oversized) return;
  const text = file?.bytes.toString('utf8') ?? '';
  const lines = new Set(text.split(/\r?\n/));
  const missing = patterns.filter((pattern) => !lines.has(pattern));
  if (missing.length === 0) return;
  await appendBelow(path, `${text === '' || text.endsWith('\n') ? '' : '\n'}${missing.join('\n')}\n`);
}

/** Why git would commit what lies in `dir`; undefined = git would not, or repository or git is missing. */
export async function gitTakes(dir: string): Promise<string | undefined> {
  if ((await gitFolderAround(dir)) === undefined) return undefined;
  const { root, prefix } = await existingAbove(dir);
  const patterns = [`:(icase)${prefix}wa_*`, `:(exclude,icase)${prefix}wa_policy.json`];
  const tracked = await git(root, ['ls-files', '-z', '--', ...patterns]);
  if (!Array.isArray(tracked)) return tracked.reason;
  const [first] = tracked;
  if (first !== undefined) return `${join(root, first)} is tracked`;
  const paths = mailboxNames.map((name) => `${prefix}${name}`);
  const ignored = await git(root, ['check-ignore', '-z', '--stdin'], paths.join('\0'));
  if (!Array.isArray(ignored)) return ignored.reason;
  const missing = paths.find((path) => !ignored.includes(path));
  return missing === undefined ? undefined : `${join(root, missing)} would not be ignored`;
}

/**
 * Paths of tracked files of the working tree below `dir` with a line that fits one of these extended regular expressions. Why git could
 * not look; without a reason where git or the repository is missing. The patterns go to git by its input, because others read command lines.
 */
export async function trackedWith(
  dir: string,
  patterns: readonly string[],
): Promise<string[] | { reason: string | undefined }> {
  if ((await gitFolderAround(dir)) === undefined) return { reason: undefined };
  const found = await git(dir, ['grep', '-I', '-l', '-z', '-E', '--no-color', '-f', '-'], `${patterns.join('\n')}\n`);
  return Array.isArray(found) ? found.map((name) => join(dir, name)) : found;
}

/**
 * Changes whenever git has written its index: a file may be tracked since, or another ignore file checked out. git locks the index
 * before it writes any file, so what was read before an unchanged mark without a lock was not written by git.
 */
export async function indexMark(dir: string): Promise<{ mark: string; lock: string | undefined }> {
  const gitFolder = await gitFolderAround(dir);
  if (gitFolder === undefined) return { mark: '', lock: undefined };
  const path = join(gitFolder.own, 'index');
  const lock = `${path}.lock`;
  const isLocked = await stat(lock).catch(() => undefined);
  const info = await stat(path).catch(() => undefined);
  const mark = `${path}:${info ? `${info.ino}:${info.size}:${info.mtimeMs}` : ''}`;
  return { mark, lock: isLocked && lock };
}

/** git starts in the nearest folder that exists, and gets the rest of the path as a prefix, which git may read as a pattern. */
async function existingAbove(dir: string): Promise<{ root: string; prefix: string }> {
  const info = await stat(dir).catch(() => undefined);
  if (info?.isDirectory() || dirname(dir) === dir) return { root: dir, prefix: '' };
  const above = await existingAbove(dirname(dir));
  return { root: above.root, prefix: `${above.prefix}${basename(dir)}/` };
}

/**
 * Returns the names that git prints, or why it cannot; without a reason where git or the repository is missing. Runs no program that
 * the repository names: no shell, hook, file watcher or fetch, and no GIT_* variable counts.
 */
function git(dir: string, args: string[], input = ''): Promise<string[] | { reason: string | undefined }> {
  const settings = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '-c', 'core.quotePath=false'];
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.toUpperCase().startsWith('GIT_')),
  );
  return new Promise((settle) => {
    const child = execFile(
      'git',
      ['--no-optional-locks', '--no-pager', ...settings, '-C', dir, ...args],
      {
        // Windows looks for a program in the working directory first.
        cwd: dirname(process.execPath),
        env: { ...env, LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0', GIT_NO_LAZY_FETCH: '1', GIT_TERMINAL_PROMPT: '0' },
        timeout: limitMs,
        killSignal: 'SIGKILL',
        maxBuffer: outputBytes,
        windowsHide: true,
      },
      (error, stdout, stderr) => {
        // 1 = no path is ignored.
        if (!error || error.code === 1) return settle(stdout.split('\0').filter(Boolean));
        if (error.code === 'ENOENT' || /not a git repository/.test(stderr)) return settle({ reason: undefined });
        const [line = ''] = stderr.split('\n');
        const why = error.killed ? `no answer within ${limitMs} ms` : line.slice(0, 200) || String(error.code);
        settle({ reason: `git could not say (${why})` });
      },
    );
    // git may end before it has read its input.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}
