// The folder of a session decides whose gate its calls are: the folder in which the session began, and not that of a command.

import { rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { createFolders, folderOf } from '../../../agent/drivers/session-folder.ts';
import { temporaryFolder } from '../../helpers/surroundings.ts';

let transcript: string;
beforeEach(async () => {
  transcript = join(await temporaryFolder(), 'rollout.jsonl');
});

const began = (cwd: string, more = '') =>
  writeFile(
    transcript,
    `${JSON.stringify({ type: 'session_meta', payload: { cwd, base_instructions: more } })}\n{"type":`,
  );
const call = (session = 's', agent = 'codex') => ({
  agent,
  session,
  transcript,
  cwd: '/usr',
  event: { type: 'other' } as const,
});

it('of a command that runs elsewhere, it is the folder of its session', async () => {
  await began('/home/dev/project', 'x'.repeat(60_000));
  expect(await folderOf(call())).toBe('/home/dev/project');
});

it('where the session file names none, it is that of the call, and nothing is thrown', async () => {
  expect(await folderOf(call())).toBe('/usr');
  expect(await folderOf({ ...call(), transcript: undefined })).toBe('/usr');
  for (const text of ['', 'garbage\n', '{"type":"session_meta","payload":{"cwd":7}}\n', '{"type":"other"}\n']) {
    await writeFile(transcript, text);
    expect(await folderOf(call())).toBe('/usr');
  }
  await began('/home/dev/project');
  expect(await folderOf(call('s', 'gemini'))).toBe('/usr');
  expect(await folderOf(call('s', 'nobody'))).toBe('/usr');
});

it('a first line without an end is not read for ever', async () => {
  await writeFile(transcript, '');
  await truncate(transcript, 2 ** 33);
  expect(await folderOf(call())).toBe('/usr');
});

it('the daemon remembers it: a session that loses its file stays at its gate', async () => {
  const remembered = createFolders();
  expect(await remembered(call())).toBe('/usr');
  await began('/home/dev/project');
  expect(await remembered(call())).toBe('/home/dev/project');
  await rm(transcript);
  expect(await remembered(call())).toBe('/home/dev/project');
  expect([await remembered(call('other')), await remembered(call('s', 'gemini'))]).toEqual(['/usr', '/usr']);
});

it('the memory has an end, and keeps the sessions that call', async () => {
  const remembered = createFolders();
  await began('/home/dev/project');
  for (let index = 0; index < 600; index += 1) {
    await remembered(call(`s${index}`));
    await remembered(call('s0'));
  }
  await rm(transcript);
  expect([await remembered(call('s0')), await remembered(call('s1'))]).toEqual(['/home/dev/project', '/usr']);
});
