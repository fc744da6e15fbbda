import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { excludeFromGit, gitTakes, indexMark } from '../../../agent/fs/git.ts';
import { temporaryFolders } from '../mailbox/temporary.ts';

const makeFolder = temporaryFolders();
afterEach(() => vi.unstubAllEnvs());

const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=dev', '-c', 'user.email=dev@example.invalid', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

async function repository(): Promise<string> {
  const dir = realpathSync(makeFolder());
  git(dir, 'init', '-q');
  await excludeFromGit(dir);
  return dir;
}

function write(dir: string, name: string, text = ''): void {
  mkdirSync(dirname(join(dir, name)), { recursive: true });
  writeFileSync(join(dir, name), text);
}

const takes = (dir: string) => gitTakes(join(dir, '.gemini'));

describe('git would commit a mailbox', () => {
  it.each(['wa_inbox.json', 'WA_Outbox.json', 'wa_audit.jsonl', 'wa_files/photo.jpg'])(
    'in which a file is tracked: %s',
    async (name) => {
      const dir = await repository();
      write(dir, `.gemini/${name}`);
      git(dir, 'add', '-f', '.');
      expect(await takes(dir)).toBe(`${join(dir, '.gemini', name)} is tracked`);
    },
  );

  it('in a folder whose name contains the characters of a pattern', async () => {
    const dir = await repository();
    for (const name of ['a [b] *', 'a b x']) write(dir, `${name}/.gemini/wa_inbox.json`);
    git(dir, 'add', '-f', 'a b x');
    expect(await takes(join(dir, 'a [b] *'))).toBeUndefined();
    git(dir, 'add', '-f', '.');
    expect(await takes(join(dir, 'a [b] *'))).toMatch(/ is tracked$/);
  });

  it.each(['!**/wa_*', '!wa_audit.jsonl', '!.wa-tmp-*', '!wa_files/'])(
    'where an ignore file of the project says so: %s',
    async (line) => {
      const dir = await repository();
      write(dir, '.gitignore', `${line}\n`);
      expect(await takes(dir)).toMatch(/ would not be ignored$/);
      write(dir, '.gemini/settings.json');
      expect(await takes(dir)).toMatch(/ would not be ignored$/);
    },
  );

  it('where .gemini is a link to a folder of the project that git does not ignore', async () => {
    const dir = await repository();
    mkdirSync(join(dir, 'config'));
    execFileSync('ln', ['-s', 'config', join(dir, '.gemini')]);
    expect(await takes(dir)).toMatch(/ would not be ignored$/);
  });

  it('as far as wa-sync knows, when git itself fails', async () => {
    const dir = await repository();
    write(dir, '.git/index', 'no index');
    expect(await takes(dir)).toMatch(/^git could not say \(.+\)$/);
  });
});

describe('git leaves a mailbox alone', () => {
  it('in a repository, in a sub-folder of one and in a worktree, as soon as the patterns stand in the exclude file', async () => {
    const dir = await repository();
    write(dir, '.gemini/wa_policy.json', '{}');
    git(dir, 'add', '.');
    git(dir, 'commit', '-qm', 'first');
    expect(await takes(dir)).toBeUndefined();
    expect(await takes(join(dir, 'packages', 'a [b] *'))).toBeUndefined();
    const tree = join(realpathSync(makeFolder()), 'tree');
    git(dir, 'worktree', 'add', '-q', tree);
    expect(await takes(tree)).toBeUndefined();
    write(tree, '.gemini/wa_inbox.json');
    git(tree, 'add', '-f', '.');
    expect(await takes(tree)).toMatch(/ is tracked$/);
  });

  it('outside of a repository, and beside an empty .git folder', async () => {
    const dir = realpathSync(makeFolder());
    expect(await takes(dir)).toBeUndefined();
    mkdirSync(join(dir, '.git'));
    expect(await takes(dir)).toBeUndefined();
  });

  it('where git is missing', async () => {
    const dir = await repository();
    write(dir, '.gitignore', '!**/wa_*\n');
    vi.stubEnv('PATH', join(dir, 'nothing'));
    expect(await takes(dir)).toBeUndefined();
  });
});

it('asking git runs nothing that the repository names, and heeds no GIT_* of the environment', async () => {
  const dir = await repository();
  const ran = join(dir, 'ran');
  const script = join(dir, 'script');
  writeFileSync(script, `#!/bin/sh\ntouch '${ran}'\n`, { mode: 0o755 });
  for (const name of [
    'core.fsmonitor',
    'core.sshCommand',
    'core.pager',
    'core.editor',
    'filter.x.clean',
    'diff.external',
  ])
    git(dir, 'config', name, script);
  write(dir, '.gitattributes', '* filter=x\n');
  write(dir, '.gitignore', '!**/wa_*\n');
  vi.stubEnv('GIT_DIR', join(dir, 'elsewhere'));
  vi.stubEnv('GIT_WORK_TREE', '/');
  vi.stubEnv('GIT_TRACE', ran);
  expect(await takes(dir)).toMatch(/ would not be ignored$/);
  expect(existsSync(ran)).toBe(false);
});

it('a running git is known by the lock of its index', async () => {
  const dir = await repository();
  expect(await indexMark(dir)).toMatchObject({ lock: undefined });
  write(dir, '.git/index.lock');
  expect(await indexMark(dir)).toMatchObject({ lock: join(dir, '.git', 'index.lock') });
});

it('the mark of the index changes as soon as a file is added', async () => {
  const dir = await repository();
  const before = await indexMark(join(dir, '.gemini'));
  expect(await indexMark(join(dir, '.gemini'))).toEqual(before);
  write(dir, 'a');
  git(dir, 'add', 'a');
  expect((await indexMark(join(dir, '.gemini'))).mark).not.toBe(before.mark);
});
