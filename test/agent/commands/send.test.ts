import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { rememberBound } from '../../../agent/mailbox/served.ts';
import { fileLimits } from '../../../protocol/limits.ts';
import { runProgram } from '../../helpers/daemon.ts';
import { type TemporaryHome, temporaryHome } from '../../helpers/home.ts';

let home: TemporaryHome;
beforeEach(async () => {
  home = await temporaryHome();
});
afterEach(() => home.close());

const binding = () => ({ dir: home.project, mailbox: '1000001', project: 0 });

function send(text: string, cwd: string, others: Record<string, string> = {}) {
  const state = join(home.root, 'state');
  const env = { HOME: home.home, WA_CONFIG_DIR: join(home.root, 'config'), WA_STATE_DIR: state, ...others };
  return runProgram(['send', text], env, cwd).exited;
}

it('a text sent in a sub-folder stands in the outbox of the project that the daemon serves without config.json', async () => {
  const folder = join(home.project, 'src');
  await mkdir(folder);
  await rememberBound(join(home.root, 'config'), binding(), null, 0);
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

it('a text for a folder that no daemon has served yet is refused with its repair: of its files nobody knows who wrote them', async () => {
  await home.write('config/config.json', JSON.stringify({ bindings: [binding()] }), 0o600);
  const { code, stdout, stderr } = await send('Tests pass', home.project);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('(not_bound)');
  expect(stderr).toContain('wa-sync start');
  expect(existsSync(join(home.project, '.gemini'))).toBe(false);
});

it('a text for an outbox that is full of unsent ones stands behind them', async () => {
  await rememberBound(join(home.root, 'config'), binding(), null, 0);
  const messages = Array.from({ length: fileLimits.entries }, (_, number) => unsent(number));
  const outbox = await home.write('dev/project/.gemini/wa_outbox.json', JSON.stringify({ messages }), 0o600);
  expect(await send('One more', home.project)).toMatchObject({ code: 0, stderr: '' });
  const { messages: all } = JSON.parse(await readFile(outbox, 'utf8'));
  expect(all).toEqual([...messages, expect.objectContaining({ text: 'One more', sent: false })]);
});

it('a text goes where the daemon put the mailbox, whatever WA_MAILBOX_DIR says here', async () => {
  const box = join(home.root, 'box', '1000001.0');
  await rememberBound(join(home.root, 'config'), binding(), box, 0);
  const sent = await send('Tests pass', home.project, { WA_MAILBOX_DIR: join(home.root, 'elsewhere') });
  expect(sent).toMatchObject({ code: 0, stdout: expect.stringContaining(join(box, 'wa_outbox.json')) });
  expect(existsSync(join(home.root, 'elsewhere'))).toBe(false);
  const nowhere = await send('Tests pass', home.home, { WA_MAILBOX_DIR: join(home.root, 'elsewhere') });
  expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining('(not_bound)')]);
});
