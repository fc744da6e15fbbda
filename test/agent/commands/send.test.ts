import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fileLimits } from '../../../protocol/limits.ts';
import { runProgram } from '../../helpers/daemon.ts';
import { type TemporaryHome, temporaryHome } from '../../helpers/home.ts';

let home: TemporaryHome;
beforeEach(async () => {
  home = await temporaryHome();
});
afterEach(() => home.close());

function send(text: string, cwd: string, others: Record<string, string> = {}) {
  const state = join(home.root, 'state');
  const env = { HOME: home.home, WA_CONFIG_DIR: join(home.root, 'config'), WA_STATE_DIR: state, ...others };
  return runProgram(['send', text], env, cwd).exited;
}

it('a text sent in a sub-folder stands in the outbox of the project that the daemon serves without config.json', async () => {
  const folder = join(home.project, 'src');
  await mkdir(folder);
  await mkdir(join(home.root, 'state'));
  const bindings = [{ dir: home.project, mailbox: '1000001', project: 0 }];
  await writeFile(join(home.root, 'state', 'bound.json'), JSON.stringify({ bindings }));
  expect(await send('Tests pass', folder)).toEqual({
    code: 0,
    stdout: `queued in ${join(home.project, '.gemini', 'wa_outbox.json')}; no daemon runs: it goes out when one starts, with \`wa-sync start\`\n`,
    stderr: '',
  });
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

const unsent = (number: number) => ({
  id: `resp_${number}`,
  timestamp: '2026-02-15T14:30:15Z',
  from: 'agent',
  text: `waits ${number}`,
  sent: false,
});

it('a text for an outbox that is full of unsent ones waits in the spool, and the file keeps its limit', async () => {
  const bindings = [{ dir: home.project, mailbox: '1000001', project: 0 }];
  await home.write('config/config.json', JSON.stringify({ bindings }), 0o600);
  const messages = Array.from({ length: fileLimits.entries }, (_, number) => unsent(number));
  const outbox = await home.write('dev/project/.gemini/wa_outbox.json', JSON.stringify({ messages }), 0o600);
  expect(await send('One more', home.project)).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(await readFile(outbox, 'utf8'))).toEqual({ messages });
  const spool = join(home.root, 'state', 'spool');
  const [name = '', ...others] = await readdir(spool);
  expect(others).toEqual([]);
  expect(JSON.parse(await readFile(join(spool, name), 'utf8'))).toEqual({
    kind: 'answer',
    project: '1000001.0',
    at: expect.any(Number),
    answer: { id: expect.stringMatching(/^resp_/), timestamp: expect.any(String), text: 'One more' },
    apart: true,
  });
});

it('a text for a full outbox that no daemon serves is refused by name', async () => {
  const messages = Array.from({ length: fileLimits.entries }, (_, number) => unsent(number));
  await home.write('box/wa_outbox.json', JSON.stringify({ messages }), 0o600);
  const { code, stderr } = await send('One more', home.project, { WA_MAILBOX_DIR: join(home.root, 'box') });
  expect(code).toBe(2);
  expect(stderr).toContain('(not_bound)');
  expect(existsSync(join(home.root, 'state'))).toBe(false);
});
