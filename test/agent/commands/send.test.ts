import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runProgram } from '../../helpers/daemon.ts';
import { type TemporaryHome, temporaryHome } from '../../helpers/home.ts';

let home: TemporaryHome;
beforeEach(async () => {
  home = await temporaryHome();
});
afterEach(() => home.close());

function send(text: string, cwd: string) {
  const state = join(home.root, 'state');
  const env = { HOME: home.home, WA_CONFIG_DIR: join(home.root, 'config'), WA_STATE_DIR: state };
  return runProgram(['send', text], env, cwd).exited;
}

it('a text sent in a sub-folder stands in the outbox of the project that the daemon serves without config.json', async () => {
  const folder = join(home.project, 'src');
  await mkdir(folder);
  await mkdir(join(home.root, 'state'));
  const bindings = [{ dir: home.project, mailbox: '1000001', project: 0 }];
  await writeFile(join(home.root, 'state', 'bound.json'), JSON.stringify({ bindings }));
  expect(await send('Tests pass', folder)).toMatchObject({ code: 0, stderr: '' });
  const { messages } = JSON.parse(await readFile(join(home.project, '.gemini', 'wa_outbox.json'), 'utf8'));
  expect(messages).toMatchObject([{ from: 'agent', text: 'Tests pass', sent: false }]);
  expect(existsSync(join(folder, '.gemini'))).toBe(false);
});

it('a text sent where nothing is bound is refused by name, and nothing is created there', async () => {
  const { code, stdout, stderr } = await send('Tests pass', home.project);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('(not_bound)');
  expect(existsSync(join(home.project, '.gemini'))).toBe(false);
});
