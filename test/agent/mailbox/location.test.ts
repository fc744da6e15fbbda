import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../agent/config.ts';
import { excludeFromGit, gitFolderAt } from '../../../agent/fs/git.ts';
import { openJournal } from '../../../agent/journal/journal.ts';
import { openMailbox } from '../../../agent/mailbox/open.ts';
import { ensureMailbox, locateMailbox } from '../../../agent/mailbox/served.ts';
import { createSigner } from '../../../agent/mailbox/signing.ts';
import { readMailbox, updateMailboxFile } from '../../../agent/mailbox/update.ts';
import { temporaryFolders } from './temporary.ts';

const makeFolder = temporaryFolders();
const folder = () => realpathSync(makeFolder());

const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=dev', '-c', 'user.email=dev@example.invalid', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

async function prepare(projectDir: string) {
  const place = await locateMailbox(projectDir, undefined);
  await ensureMailbox(place, projectDir);
  await excludeFromGit(projectDir).catch(() => {});
  for (const name of ['wa_inbox.json', 'wa_outbox.json', 'wa_inbox.json.lock', '.wa-tmp-1-a', 'settings.json']) {
    writeFileSync(join(place.dir, name), '{}');
  }
}

describe('the place of the two files', () => {
  test('is .gemini in the project, and the search for it creates nothing', async () => {
    const project = folder();
    expect(await locateMailbox(project, undefined)).toEqual({
      dir: join(project, '.gemini'),
      inbox: join(project, '.gemini', 'wa_inbox.json'),
      outbox: join(project, '.gemini', 'wa_outbox.json'),
      inProject: true,
    });
    expect(readdirSync(project)).toEqual([]);
  });

  test('is the folder that WA_MAILBOX_DIR names instead', async () => {
    const [project, other] = [folder(), folder()];
    const place = await locateMailbox(project, join(other, 'box'));
    expect(place).toEqual({
      dir: join(other, 'box'),
      inbox: join(other, 'box', 'wa_inbox.json'),
      outbox: join(other, 'box', 'wa_outbox.json'),
      inProject: false,
    });
    await ensureMailbox(place, project);
    expect([readdirSync(project), readdirSync(other)]).toEqual([[], ['box']]);
  });

  test('is created with mode 700, and an existing one keeps its mode', async () => {
    const project = folder();
    const place = await locateMailbox(project, undefined);
    await ensureMailbox(place, project);
    expect((statSync(place.dir).mode & 0o777).toString(8)).toBe('700');
    const other = folder();
    mkdirSync(join(other, '.gemini'), { mode: 0o755 });
    await ensureMailbox(await locateMailbox(other, undefined), other);
    expect((statSync(join(other, '.gemini')).mode & 0o777).toString(8)).toBe('755');
  });

  test.each([
    ['to another folder', (project: string) => join(project, '..', 'elsewhere')],
    ['to a folder whose name begins with the project', (project: string) => `${project}-2`],
    ['to nowhere', (project: string) => join(project, 'nothing')],
    ['to itself', (project: string) => join(project, '.gemini')],
    ['that stays in the project, where git would not ignore the files', (project: string) => join(project, 'config')],
  ])('is refused when .gemini is a link %s', async (_name, target) => {
    const project = join(folder(), 'project');
    mkdirSync(join(project, 'config'), { recursive: true });
    mkdirSync(`${project}-2`);
    mkdirSync(join(project, '..', 'elsewhere'));
    symlinkSync(target(project), join(project, '.gemini'));
    const place = await locateMailbox(project, undefined);
    const refused = {
      code: 'outside_project',
      hint: `Remove the link ${join(project, '.gemini')}, or set WA_MAILBOX_DIR to the folder that you want.`,
    };
    await expect(ensureMailbox(place, project)).rejects.toMatchObject(refused);
    await expect(readMailbox(place.inbox, 'inbox')).rejects.toMatchObject(refused);
    const update = { path: place.outbox, kind: 'outbox', now: Date.now } as const;
    await expect(updateMailboxFile(update, () => [])).rejects.toMatchObject(refused);
  });

  test('may be reached through links of the user: above the project, and to WA_MAILBOX_DIR', async () => {
    const [real, links] = [folder(), folder()];
    symlinkSync(real, join(links, 'project'));
    const project = join(links, 'project');
    const place = await locateMailbox(project, undefined);
    await ensureMailbox(place, project);
    expect(place.dir).toBe(join(real, '.gemini'));
    expect((await readMailbox(place.inbox, 'inbox')).state).toBe('missing');
    expect((await locateMailbox(real, join(project, 'box'))).dir).toBe(join(real, 'box'));
  });

  test('is not created in a missing project, and the error names the file with its path', async () => {
    const project = join(folder(), 'moved away');
    const place = await locateMailbox(project, undefined);
    await expect(ensureMailbox(place, project)).rejects.toMatchObject({
      code: 'file_unusable',
      message: `the project folder ${project} does not exist`,
      hint: expect.stringContaining('config.json'),
    });
    expect(existsSync(project)).toBe(false);
  });

  test('is file_unusable when .gemini is a file, and the error names the path', async () => {
    const project = folder();
    writeFileSync(join(project, '.gemini'), '');
    const place = await locateMailbox(project, undefined);
    await expect(ensureMailbox(place, project)).rejects.toMatchObject({
      code: 'file_unusable',
      message: `${place.dir} is not a folder`,
    });
  });
});

describe('git', () => {
  test('ignores the files and the temporary files of a write, and nothing else', async () => {
    const project = folder();
    git(project, 'init', '-q');
    await prepare(project);
    expect(git(project, 'status', '--porcelain', '-uall')).toBe('?? .gemini/settings.json\n');
  });

  test('ignores them in a project that is a sub-folder of the repository', async () => {
    const repository = folder();
    git(repository, 'init', '-q');
    const project = join(repository, 'packages', 'app');
    mkdirSync(project, { recursive: true });
    await prepare(project);
    expect(git(repository, 'status', '--porcelain', '-uall')).toBe('?? packages/app/.gemini/settings.json\n');
  });

  test('ignores them in a worktree', async () => {
    const repository = folder();
    git(repository, 'init', '-q');
    git(repository, 'commit', '-q', '--allow-empty', '-m', 'first');
    const worktree = join(folder(), 'tree');
    git(repository, 'worktree', 'add', '-q', worktree);
    await prepare(worktree);
    expect(git(worktree, 'status', '--porcelain', '-uall')).toBe('?? .gemini/settings.json\n');
  });

  test('gets the patterns once, after the existing lines', async () => {
    const project = folder();
    git(project, 'init', '-q');
    const exclude = join(project, '.git', 'info', 'exclude');
    mkdirSync(join(project, '.git', 'info'), { recursive: true });
    writeFileSync(exclude, '# mine\n*.log');
    await prepare(project);
    await prepare(project);
    expect(readFileSync(exclude, 'utf8')).toBe(
      '# mine\n*.log\n**/.gemini/wa_*\n!**/.gemini/wa_policy.json\n**/.gemini/.wa-tmp-*\n',
    );
  });

  test('is not touched for a mailbox outside the project', async () => {
    await prepare(folder());
    const project = folder();
    git(project, 'init', '-q');
    const exclude = join(project, '.git', 'info', 'exclude');
    writeFileSync(exclude, '');
    const home = folder();
    const env = { WA_CONFIG_DIR: join(home, 'config'), WA_STATE_DIR: join(home, 'state'), WA_MAILBOX_DIR: folder() };
    const journal = await openJournal(join(home, 'journal.jsonl'), Date.now);
    const { place } = await openMailbox(
      { dir: project, mailbox: '1', project: 0 },
      {
        config: loadConfig({ env, platform: process.platform, home }),
        project: journal.project('1.0'),
        signer: createSigner('0'.repeat(64), '1.0'),
        clock: Date.now,
        log: () => {},
        tell: () => Promise.resolve(),
        onQuarantined: () => {},
      },
    );
    await journal.close();
    expect([place.dir, readFileSync(exclude, 'utf8')]).toEqual([join(env.WA_MAILBOX_DIR, '1.0'), '']);
  });

  test.each([
    ['an empty folder', (path: string) => mkdirSync(path)],
    ['a folder whose HEAD is another folder', (path: string) => mkdirSync(join(path, 'HEAD'), { recursive: true })],
    [
      'a file that names another folder',
      (path: string) => writeFileSync(path, `gitdir: ${join(path, '..', 'victim')}\n`),
    ],
    ['a link to another folder', (path: string) => symlinkSync(join(path, '..', 'victim'), path)],
    ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
  ])('gets no patterns in a folder that git does not accept as a repository: %s', async (_name, plant) => {
    const project = folder();
    const victim = join(project, 'victim');
    mkdirSync(join(victim, 'info'), { recursive: true });
    writeFileSync(join(victim, 'info', 'exclude'), 'mine\n');
    plant(join(project, '.git'));
    await prepare(project);
    expect(await gitFolderAt(project)).toBeUndefined();
    expect(readFileSync(join(victim, 'info', 'exclude'), 'utf8')).toBe('mine\n');
  });

  test.each([
    ['info/exclude', 'bashrc'],
    ['info', 'folder'],
  ])('gets no patterns through a link in place of %s', async (name, target) => {
    const project = folder();
    git(project, 'init', '-q');
    const outside = folder();
    mkdirSync(join(outside, 'folder'));
    writeFileSync(join(outside, 'folder', 'exclude'), 'mine\n');
    writeFileSync(join(outside, 'bashrc'), 'mine\n');
    rmSync(join(project, '.git', name), { recursive: true });
    symlinkSync(join(outside, target), join(project, '.git', name));
    await prepare(project);
    expect(readFileSync(join(outside, 'bashrc'), 'utf8')).toBe('mine\n');
    expect(readFileSync(join(outside, 'folder', 'exclude'), 'utf8')).toBe('mine\n');
  });
});
