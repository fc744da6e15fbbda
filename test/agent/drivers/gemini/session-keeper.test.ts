// What Gemini CLI 0.61.0 does to its files when it loads a session over ACP, as recorded, and what is left of the conversation.

import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { keepSession } from '../../../../agent/drivers/gemini/session-keeper.ts';
import { temporaryFolder } from '../../../helpers/surroundings.ts';

const id = '0ab4a7bb-03b4-4028-af0c-d6b7be7c5a17';
const other = '0ab4a7bb-1111-4028-af0c-d6b7be7c5a17';
const now = Date.parse('2026-11-22T04:26:30Z');
const head = (session: string) => `${JSON.stringify({ sessionId: session, kind: 'main' })}\n`;
const talk = `${head(id)}{"type":"user","content":"remember 7"}\n`;

let env: Record<string, string>;
let project: string;
let chats: string;

beforeEach(async () => {
  const home = await temporaryFolder();
  env = { HOME: home };
  project = join(home, '.gemini', 'tmp', 'project');
  chats = join(project, 'chats');
  await mkdir(chats, { recursive: true });
  await mkdir(join(home, '.gemini', 'tmp', 'empty'));
});

const keep = (load: () => Promise<void>) => keepSession({ id, env, load }, () => now);
const fileAt = (minute: string) => join(chats, `session-2026-11-22T${minute}-0ab4a7bb.jsonl`);
/** A load in this minute: the CLI writes a head into a file of its own name, and goes on in the first. */
const load = async () => {
  const [first = ''] = (await readdir(chats)).sort();
  await writeFile(fileAt('04-26'), head(id), { flag: 'a' });
  await writeFile(join(chats, first), '{"type":"gemini"}\n', { flag: 'a' });
};
const contents = async () => {
  const names = (await readdir(chats)).sort();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(chats, name), 'utf8')])),
  );
};

it('a load leaves the one file of the conversation, with all that was in it', async () => {
  await writeFile(fileAt('04-20'), talk);
  await writeFile(join(chats, 'session-2026-11-22T04-21-0ab4a7bb.jsonl'), head(other));
  await keep(load);
  expect(await contents()).toEqual({
    'session-2026-11-22T04-20-0ab4a7bb.jsonl': `${talk}{"type":"gemini"}\n`,
    'session-2026-11-22T04-21-0ab4a7bb.jsonl': head(other),
  });
  expect(await readdir(join(project, 'wa_kept'))).toEqual([]);
});

it('a conversation of this minute gets an earlier name, so that the load does not write into it', async () => {
  await writeFile(fileAt('04-26'), talk);
  await writeFile(fileAt('04-25'), head(other));
  await keep(load);
  expect(Object.keys(await contents())).toEqual([
    'session-2026-11-22T04-24-0ab4a7bb.jsonl',
    'session-2026-11-22T04-25-0ab4a7bb.jsonl',
  ]);
  expect((await contents())['session-2026-11-22T04-24-0ab4a7bb.jsonl']).toBe(`${talk}{"type":"gemini"}\n`);
});

it('a failed load that ruined or removed the file leaves the conversation as it was', async () => {
  for (const ruin of [() => rm(fileAt('04-20')), () => writeFile(fileAt('04-20'), head(id))]) {
    await writeFile(fileAt('04-20'), talk);
    const failing = keep(async () => {
      await load();
      await ruin();
      throw new Error('Invalid session identifier');
    });
    await expect(failing).rejects.toThrow('Invalid session identifier');
    expect(await contents()).toEqual({ 'session-2026-11-22T04-20-0ab4a7bb.jsonl': talk });
  }
});

it('a crash after a load loses nothing, although the next start of the CLI deletes both files', async () => {
  await writeFile(fileAt('04-20'), talk);
  // The daemon never gets past the load.
  void keep(() => new Promise(() => {}));
  // A name alone may be that of a copy which has only begun.
  await expect.poll(() => readFile(join(project, 'wa_kept', `${id}.jsonl`), 'utf8').catch(() => '')).toBe(talk);
  await rm(fileAt('04-20'));

  await keep(load);
  expect(Object.values(await contents())).toEqual([`${talk}{"type":"gemini"}\n`]);
});

it('a session that the CLI does not have is left to the CLI, and no name leads out of its folders', async () => {
  for (const name of [id, '../../../etc/passwd', '']) {
    let loads = 0;
    await keepSession({ id: name, env, load: async () => void loads++ });
    expect(loads).toBe(1);
  }
  expect(await readdir(project)).toEqual(['chats']);
});
