// From the phone to wa_inbox.json, on the real relay, the real journal and the real files.

import { chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileLimits } from '../../protocol/limits.ts';
import { until, type Workstation } from '../helpers/daemon.ts';
import { timesIn } from '../helpers/launcher.ts';
import { eachTest, type Scene } from '../helpers/scene.ts';

let ws: Workstation;
let newAgent: Scene['newAgent'];
let arrives: Scene['arrives'];
eachTest((scene) => {
  ({ ws, newAgent, arrives } = scene);
});

const timestamp = '2026-02-15T14:30:00Z';

const texts = async () => (await ws.inbox()).map((entry) => entry.text);
const stands = (text: string) => until(`"${text}" stands in the inbox`, async () => (await texts()).includes(text));

describe('a text of the phone', () => {
  it('stands in the inbox file as the contract says, and the relay knows that it is delivered', async () => {
    await ws.start();
    await ws.chat.say('Run /startup\nplease “now” 🚀');
    await stands('Run /startup\nplease “now” 🚀');
    const [entry] = await ws.inbox();
    expect(entry).toEqual({
      id: expect.stringMatching(/^msg_[a-z0-9]+_0_1$/),
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      from: 'user',
      text: 'Run /startup\nplease “now” 🚀',
      read: false,
      sig: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect((await stat(ws.inboxFile)).mode & 0o777).toBe(0o600);
    expect((await stat(dirname(ws.inboxFile))).mode & 0o777).toBe(0o700);
    expect(await readFile(ws.inboxFile, 'utf8')).toBe(`${JSON.stringify({ messages: [entry] }, null, 2)}\n`);
    await until('the relay knows', async () => (await ws.chat.ladder()).delivered === 1);
  });

  it('waits in the relay while there is no daemon, and comes in order', async () => {
    for (const text of ['one', 'two', 'three']) await ws.chat.say(text);
    await ws.start();
    await stands('three');
    expect(await texts()).toEqual(['one', 'two', 'three']);
  });

  it('comes once to a daemon that is started again', async () => {
    const daemon = await ws.start();
    await ws.chat.say('only once');
    await stands('only once');
    await daemon.stop();
    await ws.chat.say('and the next');
    await ws.start();
    await stands('and the next');
    expect(await texts()).toEqual(['only once', 'and the next']);
  });

  it('is replaced in place by an edit, and a stale foreign write does not revive the old one', async () => {
    await ws.start();
    const sent = await ws.chat.say('deploy to prod');
    await stands('deploy to prod');
    const before = await readFile(ws.inboxFile, 'utf8');
    await ws.chat.edit(sent, 'deploy to staging');
    await stands('deploy to staging');
    expect(await texts()).toEqual(['deploy to staging']);
    await ws.foreignWrite(ws.inboxFile, before);
    await until('the file is put right', async () => (await texts()).join() === 'deploy to staging');
    expect((await ws.inbox()).map(({ id, read }) => ({ id, read }))).toEqual([
      { id: JSON.parse(before).messages[0].id, read: false },
    ]);
  });

  it('whose edit comes after another program took it comes as a correction', async () => {
    await ws.start();
    const sent = await ws.chat.say('first');
    await stands('first');
    await ws.foreignWrite(ws.inboxFile, { messages: (await ws.inbox()).map((entry) => ({ ...entry, read: true })) });
    await until('the relay knows', async () => (await ws.chat.ladder()).taken === 1);
    await ws.chat.edit(sent, 'second');
    await stands('second');
    const [old, correction] = await ws.inbox();
    expect(old).toMatchObject({ text: 'first', read: true });
    expect(correction).toMatchObject({ text: 'second', read: false, editOf: old?.id });
  });
});

describe('the window', () => {
  it('holds the oldest hundred and is refilled as another program reads them', async () => {
    const total = fileLimits.entries + 30;
    for (let number = 1; number <= total; number += 1) await ws.chat.say(`m${number}`);
    await ws.start();
    const numbers = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, index) => `m${from + index}`);
    await until('the window is full', async () => (await ws.inbox()).length === fileLimits.entries);
    expect(await texts()).toEqual(numbers(1, fileLimits.entries));
    await ws.foreignWrite(ws.inboxFile, {
      messages: (await ws.inbox()).map((entry, index) => ({ ...entry, read: index < 50 })),
    });
    await until('it is refilled', async () => (await texts()).includes(`m${total}`));
    const unread = (await ws.inbox()).filter((entry) => !entry.read).map((entry) => entry.text);
    expect(unread).toEqual(numbers(51, total));
    expect((await ws.inbox()).length).toBeLessThanOrEqual(fileLimits.entries);
    await until('the relay knows', async () => (await ws.chat.ladder()).taken === 50);
  });

  it('holds 50 KB with the notes of a hand-over, and one message however large', async () => {
    const large = (letter: string) => letter.repeat(4000);
    for (let number = 0; number < 20; number += 1) await ws.chat.say(large(String.fromCharCode(97 + number)));
    await ws.start();
    await until('the window is full', async () => (await ws.inbox()).length >= 10);
    await until('the relay handed out all', async () => (await ws.chat.ladder()).delivered === 20);
    expect((await texts()).map((text) => text[0]).join('')).toBe('abcdefghij');
    await ws.foreignWrite(ws.inboxFile, { messages: (await ws.inbox()).map((entry) => ({ ...entry, read: true })) });
    await stands(large('t'));
    const unread = (await ws.inbox()).filter((entry) => !entry.read).map((entry) => entry.text[0]);
    expect(unread.join('')).toBe('klmnopqrst');
  });
});

describe('what other programs do to the file', () => {
  it('leaves their entries and their fields, completes what they left out, and restores the mode', async () => {
    await ws.foreignWrite(ws.inboxFile, '{"version":7,"messages":[{"text":"from a script","colour":"red"},42]}');
    await ws.start();
    await ws.chat.say('from the phone');
    await stands('from the phone');
    const { messages, ...fields } = JSON.parse(await readFile(ws.inboxFile, 'utf8'));
    expect(fields).toEqual({ version: 7 });
    expect(messages).toEqual([
      {
        text: 'from a script',
        colour: 'red',
        id: expect.stringMatching(/^in_/),
        timestamp: expect.any(String),
        from: 'user',
        read: false,
      },
      expect.objectContaining({ text: 'from the phone' }),
      42,
    ]);
    expect((await stat(ws.inboxFile)).mode & 0o777).toBe(0o600);
  });

  it('keeps a field that they added to a message of ours', async () => {
    await ws.start();
    await ws.chat.say('one');
    await stands('one');
    await ws.foreignWrite(ws.inboxFile, { messages: (await ws.inbox()).map((entry) => ({ ...entry, seenBy: 'jq' })) });
    await ws.chat.say('two');
    await stands('two');
    expect((await ws.inbox()).map((entry) => entry.seenBy)).toEqual(['jq', undefined]);
    await until('the mode is restored', async () => ((await stat(ws.inboxFile)).mode & 0o777) === 0o600);
  });

  it('does not lose an entry that they dropped without knowing it', async () => {
    await ws.start();
    await ws.chat.say('one');
    await stands('one');
    await ws.foreignWrite(ws.inboxFile, { messages: [] });
    await stands('one');
    expect(await ws.inbox()).toEqual([expect.objectContaining({ text: 'one', read: false })]);
  });
});

describe('nothing unread is lost when the file', () => {
  const damages: [string, () => Promise<unknown>][] = [
    ['is removed', () => rm(ws.inboxFile)],
    ['and its folder are moved away', () => rename(dirname(ws.inboxFile), join(ws.root, 'old'))],
    ['is emptied', () => writeFile(ws.inboxFile, '')],
    ['gets a BOM', async () => ws.foreignWrite(ws.inboxFile, `\uFEFF${await readFile(ws.inboxFile, 'utf8')}`)],
  ];
  it.each(damages)('%s', async (_, damage) => {
    await ws.start();
    await ws.chat.say('one');
    await stands('one');
    const [entry] = await ws.inbox();
    await damage();
    await ws.chat.say('two');
    await stands('two');
    expect(await ws.inbox()).toEqual([entry, expect.objectContaining({ text: 'two', read: false })]);
  });

  it('is cut in the middle: moved aside, salvaged, and the phone is told', async () => {
    await ws.start();
    await ws.chat.say('one');
    await stands('one');
    const [entry] = await ws.inbox();
    const script = { id: 'x', timestamp: '2026-02-15T14:30:00Z', from: 'script', text: 'theirs', read: false };
    await ws.foreignWrite(ws.inboxFile, `${JSON.stringify({ messages: [script, entry, entry] }).slice(0, -60)}`);
    await stands('theirs');
    expect(await ws.inbox()).toEqual([script, entry]);
    const aside = (await readdir(dirname(ws.inboxFile))).filter((name) => name.includes('.corrupt-'));
    expect(aside).toEqual([expect.stringMatching(/^wa_inbox\.json\.corrupt-/)]);
    const told = await until('the phone is told', () => ws.chat.fromBot()[0]);
    expect(told.text).toBe(
      `Another program left a malformed wa_inbox.json. It lies aside as ${aside[0]}; 2 of its entries were recovered, and no message of yours is lost.`,
    );
  });

  it('has a field that nests 20,000 deep: moved aside by name, and messages come as before', async () => {
    const daemon = await ws.start();
    const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
    await ws.foreignWrite(ws.inboxFile, `{"messages":[{"id":"x","text":"deep","more":${deep}},{"text":"theirs"}]}`);
    await ws.chat.say('one');
    await stands('one');
    expect(await texts()).toEqual(['theirs', 'one']);
    const told = await until('the phone is told', () => ws.chat.fromBot()[0]);
    expect(told.text).toContain('Another program left a malformed wa_inbox.json.');
    expect(projectStatus(daemon).inboxTrouble).toBe(null);
    expect(JSON.stringify(ws.log)).not.toContain('call stack');
  });

  it('is 7.8 MB of 75,000 entries: moved aside whole, and a turn is given what the phone says', async () => {
    const messages = Array.from({ length: 75_000 }, (_, at) => ({
      id: `m${at}`,
      timestamp,
      from: 'x',
      text: 'x',
      read: false,
    }));
    await ws.foreignWrite(ws.inboxFile, { messages });
    await ws.start();
    await arrives('one');
    expect(await texts()).toEqual(['one']);
    const aside = (await readdir(dirname(ws.inboxFile))).filter((name) => name.includes('.corrupt-'));
    expect(aside).toHaveLength(1);
    const told = await until('the phone is told', () => ws.chat.fromBot()[0]);
    expect(told.text).toContain(`It lies aside as ${aside[0]}`);
    const agent = await newAgent();
    expect(timesIn(await agent.turn('done'), 'one')).toBe(1);
  });

  it('is a folder: the trouble is named, and it goes on when the folder is gone', async () => {
    await mkdir(ws.inboxFile, { recursive: true });
    const daemon = await ws.start();
    await ws.chat.say('one');
    const trouble = await until('the trouble is named', () => projectStatus(daemon).inboxTrouble ?? undefined);
    expect(trouble).toContain(`${ws.inboxFile} `);
    await until('the relay is rid of it', async () => (await ws.chat.ladder()).delivered === 1);
    await rm(ws.inboxFile, { recursive: true });
    await stands('one');
    await until('the trouble is over', () => projectStatus(daemon).inboxTrouble === null);
  });

  it.skipIf(process.getuid?.() === 0)('may not be read', async () => {
    await ws.foreignWrite(ws.inboxFile, { messages: [] });
    await chmod(ws.inboxFile, 0);
    const daemon = await ws.start();
    await ws.chat.say('one');
    await until('the trouble is named', () => projectStatus(daemon).inboxTrouble !== null);
    await chmod(ws.inboxFile, 0o600);
    await stands('one');
  });
});

function projectStatus(daemon: { status(): object }): { inboxTrouble: string | null; relay: string } {
  const [project] = (daemon.status() as { projects: [{ inboxTrouble: string | null; relay: string }] }).projects;
  return project;
}
