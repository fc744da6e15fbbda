import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ensureMailbox, locateMailbox, tidyMailbox } from '../../../agent/files/location.ts';
import { temporaryFolders } from './temporary.ts';

const makeFolder = temporaryFolders();
const folder = () => realpathSync(makeFolder());
const override = undefined;

const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=dev', '-c', 'user.email=dev@example.invalid', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

async function prepare(projectDir: string) {
  const place = await locateMailbox({ projectDir, override });
  await ensureMailbox(place, projectDir);
  await tidyMailbox(place, projectDir, Date.now());
  for (const name of ['wa_inbox.json', 'wa_outbox.json', 'wa_inbox.json.lock', '.wa-tmp-1-a', 'settings.json']) {
    writeFileSync(join(place.dir, name), '{}');
  }
}

describe('the place of the two files', () => {
  test('is .gemini in the project, and looking for it makes nothing', async () => {
    const project = folder();
    expect(await locateMailbox({ projectDir: project, override })).toEqual({
      dir: join(project, '.gemini'),
      inbox: join(project, '.gemini', 'wa_inbox.json'),
      outbox: join(project, '.gemini', 'wa_outbox.json'),
      inProject: true,
    });
    expect(readdirSync(project)).toEqual([]);
  });

  test('is what WA_MAILBOX_DIR names instead', async () => {
    const [project, other] = [folder(), folder()];
    const place = await locateMailbox({ projectDir: project, override: join(other, 'box') });
    expect(place).toEqual({
      dir: join(other, 'box'),
      inbox: join(other, 'box', 'wa_inbox.json'),
      outbox: join(other, 'box', 'wa_outbox.json'),
      inProject: false,
    });
    await ensureMailbox(place, project);
    expect([readdirSync(project), readdirSync(other)]).toEqual([[], ['box']]);
  });

  test('is made with mode 700, and one that is there keeps its mode', async () => {
    const project = folder();
    const place = await locateMailbox({ projectDir: project, override });
    await ensureMailbox(place, project);
    expect((statSync(place.dir).mode & 0o777).toString(8)).toBe('700');
    const other = folder();
    mkdirSync(join(other, '.gemini'), { mode: 0o755 });
    await ensureMailbox(await locateMailbox({ projectDir: other, override }), other);
    expect((statSync(join(other, '.gemini')).mode & 0o777).toString(8)).toBe('755');
  });

  test.each([
    ['to another folder', (project: string) => join(project, '..', 'elsewhere')],
    ['to a folder whose name begins with the project', (project: string) => `${project}-2`],
    ['to nowhere', (project: string) => join(project, 'nothing')],
  ])('is refused when .gemini is a link out of the project: %s', async (_name, target) => {
    const project = join(folder(), 'project');
    mkdirSync(project);
    mkdirSync(`${project}-2`);
    mkdirSync(join(project, '..', 'elsewhere'));
    symlinkSync(target(project), join(project, '.gemini'));
    await expect(locateMailbox({ projectDir: project, override })).rejects.toMatchObject({
      code: 'outside_project',
      hint: `Remove the link ${join(project, '.gemini')}, or set WA_MAILBOX_DIR to the folder that you want.`,
    });
  });

  test('is refused when the link came after it was found', async () => {
    const project = folder();
    const place = await locateMailbox({ projectDir: project, override });
    symlinkSync(folder(), place.dir);
    await expect(ensureMailbox(place, project)).rejects.toMatchObject({ code: 'outside_project' });
  });

  test('may be a link that stays in the project, in a project that is reached by a link', async () => {
    const [real, links] = [folder(), folder()];
    mkdirSync(join(real, 'config'));
    symlinkSync('config', join(real, '.gemini'));
    symlinkSync(real, join(links, 'project'));
    const project = join(links, 'project');
    await ensureMailbox(await locateMailbox({ projectDir: project, override }), project);
  });

  test('is not made in a project that is gone, and the error says where its place is written', async () => {
    const project = join(folder(), 'moved away');
    const place = await locateMailbox({ projectDir: project, override });
    await expect(ensureMailbox(place, project)).rejects.toMatchObject({
      code: 'file_unusable',
      message: `the project folder ${project} is not there`,
      hint: expect.stringContaining('config.json'),
    });
    expect(existsSync(project)).toBe(false);
  });

  test('is unusable by name when .gemini is a file', async () => {
    const project = folder();
    writeFileSync(join(project, '.gemini'), '');
    const place = await locateMailbox({ projectDir: project, override });
    await expect(ensureMailbox(place, project)).rejects.toMatchObject({
      code: 'file_unusable',
      message: `${place.dir} is not a folder`,
    });
  });
});

describe('git', () => {
  test('ignores the files and what a write has for a moment, and nothing else', async () => {
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

  test('is told once, after what stands there already', async () => {
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

  test('is not needed, and not touched for a mailbox outside the project', async () => {
    await prepare(folder());
    const project = folder();
    git(project, 'init', '-q');
    const exclude = join(project, '.git', 'info', 'exclude');
    writeFileSync(exclude, '');
    const place = await locateMailbox({ projectDir: project, override: folder() });
    await tidyMailbox(place, project, Date.now());
    expect(readFileSync(exclude, 'utf8')).toBe('');
  });
});
