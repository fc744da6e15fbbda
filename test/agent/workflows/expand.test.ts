import { execFileSync } from 'node:child_process';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { addFootprint } from '../../../agent/drivers/footprints.ts';
import { expandSlashText } from '../../../agent/workflows/expand.ts';
import { footprint } from '../../contract/otter/footprint.ts';
import { temporaryFolder } from '../../helpers/surroundings.ts';

let root: string;
let dirs: { project: string; home: string };
beforeEach(async () => {
  root = await temporaryFolder();
  dirs = { project: join(root, 'project'), home: join(root, 'home') };
});

async function files(contents: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(contents)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}
const expand = async (text: string) => (await expandSlashText(text, dirs))?.text;

describe('a slash text', () => {
  it('becomes the text of the file that it names, wherever the tools keep them', async () => {
    const places = [
      'project/.agents/workflows/w1.md',
      'project/.agent/workflows/w2.md',
      'project/.gemini/commands/w3.toml',
      'project/.claude/commands/w4.md',
      'project/.agents/skills/w5/SKILL.md',
      'project/.gemini/skills/w6/SKILL.md',
      'project/.claude/skills/w7/SKILL.md',
      'home/.gemini/antigravity/global_workflows/w8.md',
      'home/.gemini/commands/w9.toml',
      'home/.claude/commands/w10.md',
      'home/.gemini/skills/w11/SKILL.md',
      'home/.claude/skills/w12/SKILL.md',
    ];
    const content = (path: string) => (path.endsWith('.toml') ? `prompt = "from ${path}"` : `from ${path}`);
    await files(Object.fromEntries(places.map((path) => [path, content(path)])));
    const texts = await Promise.all(places.map((_, index) => expand(`/w${index + 1}`)));
    expect(texts).toEqual(places.map((path) => `from ${path}`));
  });

  it('finds the workflows of an agent that no part of the product names, once that agent has a footprint', async () => {
    await files({ 'project/.otter/plans/x.md': 'Plan.' });
    expect(await expand('/x')).toBeUndefined();
    onTestFinished(addFootprint(footprint));
    expect(await expand('/x')).toBe('Plan.');
  });

  it('takes the workflows of the project before those of the user', async () => {
    await files({ 'home/.gemini/commands/x.toml': 'prompt = "user"', 'project/.claude/commands/x.md': 'project' });
    expect(await expand('/x')).toBe('project');
  });

  it('gives the name as it was called', async () => {
    await files({ 'project/.gemini/commands/git/commit.toml': 'prompt = "Commit."' });
    expect(await expandSlashText('/git:commit', dirs)).toEqual({ name: '/git:commit', text: 'Commit.' });
  });

  const table: [string, string, string, string | undefined][] = [
    ['front matter is left out', '---\ntitle: x\n---\nDo it.', '/w', 'Do it.'],
    ['front matter with CRLF is left out', '---\r\ntitle: x\r\n---\r\nDo it.\r\n', '/w', 'Do it.'],
    ['a rule in the text is not front matter', 'Do it.\n---\nThen this.', '/w', 'Do it.\n---\nThen this.'],
    ['a BOM is left out', '\uFEFFDo it.', '/w', 'Do it.'],
    ['arguments follow the text', 'Do it.', '/w now  please', 'Do it.\n\nArguments: now  please'],
    ['arguments may have lines', 'Do it.', '/w one\ntwo', 'Do it.\n\nArguments: one\ntwo'],
    ['arguments replace $ARGUMENTS', 'Do $ARGUMENTS and $ARGUMENTS.', '/w a $& b', 'Do a $& b and a $& b.'],
    ['$ARGUMENTS is empty without arguments', 'Do [$ARGUMENTS].', '/w', 'Do [].'],
    ['the case of a phone keyboard does not matter', 'Do it.', '/W', 'Do it.'],
    ['space around the text does not matter', 'Do it.', '  /w  ', 'Do it.'],
    ['an empty file is not a workflow', '---\ntitle: x\n---\n', '/w', undefined],
    ['another name is ordinary text', 'Do it.', '/other', undefined],
    ['two slashes are ordinary text', 'Do it.', '//w', undefined],
    ['a path is ordinary text', 'Do it.', '/w/../w', undefined],
    ['a text that only contains the name is ordinary', 'Do it.', 'please /w', undefined],
    ['a slash alone is ordinary', 'Do it.', '/', undefined],
  ];
  it.each(table)('%s', async (_, content, text, expected) => {
    await files({ 'project/.agents/workflows/w.md': content });
    expect(await expand(text)).toBe(expected);
  });

  const toml: [string, string, string, string | undefined][] = [
    ['the prompt is the text', 'description = "d"\nprompt = """\nDo it.\n"""', '/w', 'Do it.'],
    ['arguments replace {{args}}', 'prompt = "Fix {{args}}, {{args}}."', '/w #1 $1', 'Fix #1 $1, #1 $1.'],
    ['arguments follow the prompt', 'prompt = "Fix it."', '/w now', 'Fix it.\n\nnow'],
    ['a broken file is ordinary text', 'prompt = ', '/w', undefined],
    ['a file without a prompt is ordinary text', 'description = "d"', '/w', undefined],
  ];
  it.each(toml)('of a custom command: %s', async (_, content, text, expected) => {
    await files({ 'project/.gemini/commands/w.toml': content });
    expect(await expand(text)).toBe(expected);
  });

  it('runs and reads nothing that a command names: the agent is told to use its own tools', async () => {
    await files({ 'project/.gemini/commands/w.toml': 'prompt = "Look: !{git diff} @{README.md}"' });
    expect(await expand('/w')).toMatch(/^Look: !\{git diff\} @\{README\.md\}\n\n\(wa-sync has not run what stands in/);
  });

  it('never leaves the folders of workflows', async () => {
    await files({ 'project/.agents/secret.md': 'no', 'secret.md': 'no' });
    for (const text of ['/../secret', '/..:secret', '/..:..:..:secret', '/.:secret', '/%2e%2e:secret']) {
      expect(await expand(text)).toBeUndefined();
    }
  });

  it('reads no folder and nothing huge', async () => {
    await files({ 'project/.agents/workflows/dir.md/x': '', 'project/.agents/workflows/huge.md': 'x'.repeat(300_000) });
    expect([await expand('/dir'), await expand('/huge')]).toEqual([undefined, undefined]);
  });
});

describe.skipIf(process.platform === 'win32')('a workflow of a cloned repository', () => {
  const sources: [string, string, string][] = [
    ['.agents/workflows', 'deploy.md', 'A SECRET'],
    ['.agent/workflows', 'deploy.md', 'A SECRET'],
    ['.gemini/commands', 'deploy.toml', 'prompt = "A SECRET"'],
    ['.claude/commands', 'deploy.md', 'A SECRET'],
    ['.agents/skills', 'deploy/SKILL.md', 'A SECRET'],
    ['.gemini/skills', 'deploy/SKILL.md', 'A SECRET'],
    ['.claude/skills', 'deploy/SKILL.md', 'A SECRET'],
  ];
  /** What is planted in place of a path, which would lead to a file with this content if it were followed. */
  const plants: Record<string, (path: string, outside: string) => Promise<unknown> | unknown> = {
    'a link out of the project': (path, outside) => symlink(outside, path),
    'a link to nothing': (path) => symlink(join(root, 'nothing'), path),
    'a link to itself': (path) => symlink(path, path),
    'a pipe': (path) => execFileSync('mkfifo', [path]),
    'a link to a device without an end': (path) => symlink('/dev/zero', path),
    'a folder': (path) => mkdir(path),
  };
  /** Each part of the path of each source, with what it would be in the folder outside. */
  const places = sources.flatMap(([dir, file, content]) => {
    const parts = `${dir}/${file}`.split('/');
    return parts.map((_, at) => ({ place: parts.slice(0, at + 1).join('/'), rest: parts.slice(at + 1), content }));
  });

  it.each(places.flatMap((each) => Object.keys(plants).map((plant) => [each.place, plant, each] as const)))(
    'in which %s is %s gives the agent no text',
    async (place, plant, { rest, content }) => {
      const outside = join(root, 'outside');
      await files({ [join('outside', ...rest)]: content });
      const path = join(dirs.project, place);
      await mkdir(dirname(path), { recursive: true });
      await plants[plant]?.(path, outside);
      const refused: string[] = [];
      const expansion = await expandSlashText('/deploy', { ...dirs, onRefused: (why) => refused.push(why.message) });
      expect(expansion).toBeUndefined();
      // A folder, or nothing behind a link, is as good as no file in the middle of a path.
      const isEmpty = rest.length > 0 && ['a folder', 'a link to nothing', 'a link to itself'].includes(plant);
      if (!isEmpty) expect(refused.join()).toContain(place);
    },
  );

  it('may come from a source that is a link within the project, and never from a file that is a link', async () => {
    await files({ 'project/.agents/workflows/deploy.md': 'Deploy.', 'project/.env': 'TOKEN=1' });
    await mkdir(join(dirs.project, '.claude'));
    await symlink('../.agents/workflows', join(dirs.project, '.claude', 'commands'));
    await rm(join(dirs.project, '.agents', 'workflows', 'deploy.md'));
    await files({ 'project/.agents/workflows/commit.md': 'Commit.' });
    expect(await expand('/commit')).toBe('Commit.');
    await symlink('../../.env', join(dirs.project, '.agents', 'workflows', 'leak.md'));
    expect(await expand('/leak')).toBeUndefined();
  });

  it('is looked for in the home only behind the user’s own links, and never in a pipe', async () => {
    await files({ 'dotfiles/commit.md': 'Commit.', 'home/.claude/commands/x': '' });
    await symlink(join(root, 'dotfiles', 'commit.md'), join(dirs.home, '.claude', 'commands', 'commit.md'));
    execFileSync('mkfifo', [join(dirs.home, '.claude', 'commands', 'pipe.md')]);
    await symlink('/dev/zero', join(dirs.home, '.claude', 'commands', 'zero.md'));
    expect([await expand('/commit'), await expand('/pipe'), await expand('/zero')]).toEqual([
      'Commit.',
      undefined,
      undefined,
    ]);
  });
});
