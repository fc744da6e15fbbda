import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { receivedFilesFolder } from '../../../../agent/drivers/gemini/received-files.ts';
import { temporaryFolder } from '../../../helpers/surroundings.ts';

let home: string;
let project: string;
beforeEach(async () => {
  home = await temporaryFolder();
  project = join(home, 'my project');
  mkdirSync(project);
});

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
const temporary = (slug: string, root: string) => write(join(home, '.gemini', 'tmp', slug, '.project_root'), root);
const projects = (value: unknown) => write(join(home, '.gemini', 'projects.json'), JSON.stringify({ projects: value }));
const folder = (transcript?: string, dir = project) => receivedFilesFolder(dir, transcript, home);

describe('files of the phone lie in the temporary folder that Gemini CLI has for', () => {
  it('the session that a hook named, also in a folder below the project and with another home', async () => {
    const other = join(home, 'other', '.gemini', 'tmp', 'app');
    write(join(other, '.project_root'), join(project, 'app'));
    expect(await folder(join(other, 'chats', 'session-1.jsonl'))).toBe(join(other, 'wa_files'));
  });

  it('a session whose home is reached by a link, by its real path', async () => {
    temporary('my-project', project);
    symlinkSync(home, join(project, 'home'));
    const named = join(project, 'home', '.gemini', 'tmp', 'my-project', 'chats', 'session-1.jsonl');
    expect(await folder(named)).toBe(join(home, '.gemini', 'tmp', 'my-project', 'wa_files'));
  });

  it('the project, while no session was seen, also when it is reached by a link', async () => {
    temporary('my-project', project);
    projects({ [project]: 'my-project' });
    const expected = join(home, '.gemini', 'tmp', 'my-project', 'wa_files');
    expect(await folder()).toBe(expected);
    symlinkSync(project, join(home, 'link'));
    expect(await folder('/nowhere/session.jsonl', join(home, 'link'))).toBe(expected);
  });
});

describe('no folder is named', () => {
  it('where the CLI never ran', async () => {
    expect(await folder()).toBeUndefined();
    projects({});
    expect(await folder('')).toBeUndefined();
  });

  it('for a folder of another project, or one that the CLI did not make', async () => {
    temporary('theirs', '/home/dev/theirs');
    projects({ [project]: 'theirs' });
    expect(await folder()).toBeUndefined();
    expect(await folder(join(home, 'chats', 'session-1.jsonl'))).toBeUndefined();
  });

  it.each([
    ['a path', '../../..'],
    ['no text', 7],
    ['nothing', ''],
  ])('when the registry holds %s', async (_, slug) => {
    write(join(home, '.project_root'), project);
    projects({ [project]: slug });
    expect(await folder()).toBeUndefined();
  });
});
