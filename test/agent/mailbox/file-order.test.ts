// In the owner's order: a text behind a photo follows the photo into the inbox file.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Journal } from '../../../agent/journal/journal.ts';
import { waitForFilesMs } from '../../../agent/mailbox/file-order.ts';
import type { InboxOptions, InboxSync } from '../../../agent/mailbox/inbox.ts';
import { loneInbox } from '../../helpers/inbox.ts';
import { journalIn, temporaryFolder } from '../../helpers/surroundings.ts';

const p = '1.0';
const now = Date.parse('2026-02-15T14:30:00Z');

describe('a text after a photo whose file is being fetched', () => {
  const photo = { id: 'file', kind: 'photo', name: 'a.jpg' } as const;
  const row = (seq: number, text: string, fields: object = {}) =>
    ({ seq, id: `msg_e_0_${seq}`, at: now, kind: 'message', text, expiresAt: 9e15, ...fields }) as const;
  const stop = { seq: 3, id: 'msg_e_0_3', at: now, kind: 'control', control: { type: 'stop', text: 'stop' } } as const;
  const fetched = () =>
    journal.append([{ t: 'fetched', p, at: now, id: 'msg_e_0_1', lines: ['[photo: .gemini/wa_files/a.jpg]'] }]);
  const inFile = async () => {
    const { messages } = JSON.parse(await readFile(path, 'utf8')) as { messages: { text: string }[] };
    return messages.map(({ text }) => text);
  };
  const seen = async (inbox: InboxSync) => ({
    inFile: await inFile(),
    forAgent: (await inbox.waiting()).messages.map(({ entry }) => entry.text),
    further: (await inbox.waiting()).further,
    hasNews: inbox.hasNews({ midTurn: true }),
  });
  const look = '[photo: .gemini/wa_files/a.jpg]';
  let at: number;
  let path: string;
  let journal: Journal;
  let inbox: InboxSync;
  const inboxWith = (changes: Partial<InboxOptions>) =>
    loneInbox({ project: journal.project(p), journal, path, clock: () => at, ...changes });
  beforeEach(async () => {
    at = now;
    const dir = await temporaryFolder();
    path = join(dir, 'wa_inbox.json');
    journal = await journalIn(dir);
    inbox = inboxWith({});
    await journal.append([
      { t: 'row', p, at, row: row(1, 'look at this', { files: [photo] }) },
      { t: 'row', p, at, row: row(2, 'the second one is wrong') },
      { t: 'row', p, at, row: stop },
    ]);
    await inbox.refresh();
  });
  afterEach(async () => {
    await inbox.stop();
    await journal.close();
  });

  it('waits for the photo, while a STOP does not', async () => {
    expect(await seen(inbox)).toEqual({ inFile: ['stop'], forAgent: [], further: 0, hasNews: false });
    await fetched();
    await inbox.refresh();
    expect(await seen(inbox)).toEqual({
      inFile: ['stop', `look at this\n${look}`, 'the second one is wrong'],
      forAgent: [`look at this\n${look}`, 'the second one is wrong'],
      further: 0,
      hasNews: true,
    });
  });

  it('waits no longer than the bound, and then goes first', async () => {
    at = now + waitForFilesMs - 1;
    await inbox.refresh();
    expect(await seen(inbox)).toMatchObject({ inFile: ['stop'], forAgent: [] });
    at = now + waitForFilesMs;
    await inbox.refresh();
    const text = ['the second one is wrong'];
    expect(await seen(inbox)).toEqual({ inFile: ['stop', ...text], forAgent: text, further: 0, hasNews: true });
  });

  it('is looked for again without any event when the bound is reached', async () => {
    await inbox.stop();
    const reached = new Promise<void>((resolve) => {
      inbox = inboxWith({ lookAgain: resolve });
    });
    await inbox.refresh();
    at = now + waitForFilesMs - 1;
    await inbox.refresh();
    await reached;
  });

  it('no longer waits once a STOP has parked the photo', async () => {
    await journal.append([
      { t: 'parked', p, at, ids: ['msg_e_0_1', 'msg_e_0_2'] },
      { t: 'row', p, at, row: row(4, 'do this instead') },
    ]);
    await inbox.refresh();
    expect(await seen(inbox)).toMatchObject({ forAgent: ['do this instead'], hasNews: true });
  });
});
