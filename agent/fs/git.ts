// Asks git whether it would commit the files of a mailbox. Runs git only so that nothing of the repository is executed, and never
// waits long. Not for hooks: they obey what the daemon wrote down.

import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';

/** What a mailbox folder may hold; the policy is the project's own file, to be committed. */
const ourNames = [
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

const limitMs = 10_000;
const outputBytes = 1024 * 1024;

/** The reason for which git would commit what lies in `dir`; undefined = it would not, or there is neither repository nor git. */
export async function gitTakes(dir: string): Promise<string | undefined> {
  if ((await findIndex(dir)) === undefined) return undefined;
  const { root, prefix } = await existingAbove(dir);
  const patterns = [`:(icase)${prefix}wa_*`, `:(exclude,icase)${prefix}wa_policy.json`];
  const tracked = await git(root, ['ls-files', '-z', '--', ...patterns]);
  if (tracked.kind === 'no git') return undefined;
  if (tracked.kind === 'failed') return tracked.reason;
  const [first] = tracked.names;
  if (first !== undefined) return `${join(root, first)} is tracked`;
  const paths = ourNames.map((name) => `${prefix}${name}`);
  const ignored = await git(root, ['check-ignore', '-z', '--stdin'], paths.join('\0'));
  if (ignored.kind === 'no git') return undefined;
  if (ignored.kind === 'failed') return ignored.reason;
  const missing = paths.find((path) => !ignored.names.includes(path));
  return missing === undefined ? undefined : `${join(root, missing)} would not be ignored`;
}

/**
 * Changes whenever git has written its index: something may be tracked since, or another ignore file checked out. git locks the
 * index before it writes any file, so what was read before an unchanged mark without a lock was not written by git.
 */
export async function indexMark(dir: string): Promise<{ mark: string; lock: string | undefined }> {
  const path = await findIndex(dir);
  if (path === undefined) return { mark: '', lock: undefined };
  const lock = `${path}.lock`;
  const isLocked = await stat(lock).then(
    () => true,
    () => false,
  );
  const info = await stat(path).catch(() => undefined);
  const mark = `${path}:${info ? `${info.ino}:${info.size}:${info.mtimeMs}` : ''}`;
  return { mark, lock: isLocked ? lock : undefined };
}

/** Of the repository or worktree around a folder. All folders above are looked at in one go: a hook waits for it. */
async function findIndex(dir: string): Promise<string | undefined> {
  const found = await Promise.all(
    foldersFrom(dir).map(async (at) => ({ at, info: await stat(join(at, '.git')).catch(() => undefined) })),
  );
  for (const { at, info } of found) {
    const path = join(at, '.git');
    if (info?.isDirectory()) return join(path, 'index');
    if (info?.isFile() && info.size < 10_000) {
      const named = /^gitdir: (.+)$/m.exec(await readFile(path, 'utf8').catch(() => ''))?.[1]?.trim();
      if (named) return join(isAbsolute(named) ? named : resolve(at, named), 'index');
    }
  }
  return undefined;
}

/** The folder and those above it, the nearest first. */
function foldersFrom(dir: string): string[] {
  const above = dirname(dir);
  return above === dir ? [dir] : [dir, ...foldersFrom(above)];
}

/** git is started in a folder that is there, and told the rest of the way. */
async function existingAbove(dir: string): Promise<{ root: string; prefix: string }> {
  const isThere = await stat(dir).then(
    (info) => info.isDirectory(),
    () => false,
  );
  if (isThere || dirname(dir) === dir) return { root: dir, prefix: '' };
  const above = await existingAbove(dirname(dir));
  return { root: above.root, prefix: `${above.prefix}${basename(dir)}/` };
}

type Answer = { kind: 'no git' } | { kind: 'failed'; reason: string } | { kind: 'names'; names: string[] };

/** Without a program of the repository's choice: no shell, no hook, no file watcher, no fetch, nothing of GIT_* that somebody set. */
function git(dir: string, args: string[], input = ''): Promise<Answer> {
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
        if (!error || error.code === 1) return settle({ kind: 'names', names: stdout.split('\0').filter(Boolean) });
        if (error.code === 'ENOENT' || /not a git repository/.test(stderr)) return settle({ kind: 'no git' });
        const [line = ''] = stderr.split('\n');
        const why = error.killed ? `no answer within ${limitMs} ms` : line.slice(0, 200) || String(error.code);
        settle({ kind: 'failed', reason: `git could not say (${why})` });
      },
    );
    // It may end before it has read anything.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}
