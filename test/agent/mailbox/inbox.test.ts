// The inbox file follows the journal, also where it could not be written for a while.

import { chmod, mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acquireLock } from '../../../agent/fs/lock.ts';
import { type Journal, openJournal } from '../../../agent/journal/journal.ts';
import type { ProjectRecord } from '../../../agent/journal/records.ts';
import type { InboxOptions, InboxSync } from '../../../agent/mailbox/inbox.ts';
import { createSigner } from '../../../agent/mailbox/signing.ts';
import type { HookNote } from '../../../protocol/files.ts';
import { loneInbox } from '../../helpers/inbox.ts';

const p = '1.0';
const id = 'msg_e_0_1';
const now = Date.parse('2026-02-15T14:30:00Z');

let dir: string;
let path: string;
let journal: Journal;
beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), 'wa-inbox-')));
  path = join(dir, 'wa_inbox.json');
  journal = await openJournal(join(dir, 'journal.jsonl'), () => now);
});
afterEach(async () => {
  await journal.close();
  await rm(dir, { recursive: true, force: true });
});

function inboxWith(changes: Partial<InboxOptions>): InboxSync {
  return loneInbox({ project: journal.project(p), journal, path, clock: () => now, ...changes });
}

it('says when a message expires unless that is a day after its time, whatever another program writes there', async () => {
  const inbox = inboxWith({});
  const row = { seq: 1, id, at: now, kind: 'message', text: 'one', expiresAt: now + 86_400_000 } as const;
  const sooner = { ...row, seq: 2, id: 'msg_e_0_2', text: 'two', expiresAt: now + 3_600_000 } as const;
  await journal.append([
    { t: 'row', p, at: now, row },
    { t: 'row', p, at: now, row: sooner },
  ]);
  await inbox.refresh();
  const { messages } = JSON.parse(await readFile(path, 'utf8'));
  const times = [undefined, now + 3_600_000];
  expect(messages.map(({ expiresAt }: { expiresAt?: number }) => expiresAt)).toEqual(times);

  const prolonged = messages.map((entry: object) => ({ ...entry, expiresAt: now * 2 }));
  await writeFile(path, JSON.stringify({ messages: prolonged }));
  await inbox.refresh();
  expect(JSON.parse(await readFile(path, 'utf8')).messages).toEqual(messages);
  await inbox.stop();
});

it('shows what was handed over as read as soon as the disk has room, without any other event', async () => {
  let isFull = false;
  let onRefreshed = () => {};
  const inbox: InboxSync = inboxWith({
    lookAgain: () => void inbox.refresh(),
    prepare: () => (isFull ? Promise.reject(new Error('no space left on the disk')) : Promise.resolve()),
    onRefreshed: () => onRefreshed(),
  });
  const row = { seq: 1, id, at: now, kind: 'message', text: 'one', expiresAt: 9e15 } as const;
  await journal.append([{ t: 'row', p, at: now, row }]);
  await inbox.refresh();
  isFull = true;
  await journal.append([
    { t: 'handed', p, at: now, ids: [id], tool: 'gemini', session: 's', transcript: null, offset: 0 },
  ]);
  await inbox.refresh();
  expect(inbox.trouble()).toContain('no space left');
  expect(await readFile(path, 'utf8')).toContain('"read": false');

  const written = new Promise<void>((resolve) => {
    onRefreshed = () => inbox.trouble() === undefined && resolve();
  });
  isFull = false;
  await written;
  expect(await readFile(path, 'utf8')).toContain('"read": true');
  await inbox.stop();
});

it('signs a STOP without the time that another program wrote there', async () => {
  const inbox = inboxWith({ signer: createSigner('ab'.repeat(32), p) });
  const control = { type: 'stop', text: 'Stop' } as const;
  await journal.append([{ t: 'row', p, at: now, row: { seq: 1, id, at: now, kind: 'control', control } }]);
  await inbox.refresh();
  const { messages } = JSON.parse(await readFile(path, 'utf8'));
  expect(messages).toMatchObject([{ id: 'stop_1', sig: expect.any(String) }]);
  await writeFile(path, JSON.stringify({ messages: [{ ...messages[0], expiresAt: now * 2 }] }));
  await inbox.refresh();
  expect(JSON.parse(await readFile(path, 'utf8')).messages).toEqual(messages);
  await inbox.stop();
});

describe('a change of the file', () => {
  const row = { seq: 1, id, at: now, kind: 'message', text: 'one', expiresAt: 9e15 } as const;
  const note: HookNote = { tool: 'gemini', session: 's', transcript: '/s.jsonl', at: 7 };
  let views = 0;

  async function withView(): Promise<InboxSync> {
    const inbox = inboxWith({
      prepare: async () => {
        views += 1;
      },
    });
    await journal.append([{ t: 'row', p, at: now, row }]);
    await inbox.refresh();
    views = 0;
    return inbox;
  }
  const rewrite = async (change: object) => {
    const { messages } = JSON.parse(await readFile(path, 'utf8'));
    await writeFile(path, `${JSON.stringify({ messages: [{ ...messages[0], ...change }] }, null, 2)}\n`);
  };

  it('that a view has made is noticed before the view has ended, and is not looked at again', async () => {
    const noticed: Promise<void>[] = [];
    const inbox: InboxSync = inboxWith({
      prepare: async () => {
        views += 1;
        if (views === 1) noticed.push(inbox.changed());
      },
    });
    views = 0;
    await journal.append([{ t: 'row', p, at: now, row }]);
    await inbox.refresh();
    await Promise.all(noticed);
    expect([noticed.length, views]).toEqual([1, 1]);
    await inbox.stop();
  });

  it('that a view has made is not looked at again, and the next one is', async () => {
    const inbox = await withView();
    await inbox.changed();
    expect(views).toBe(0);
    await inbox.changed();
    expect(views).toBe(1);
    await inbox.stop();
  });

  it('by another program is, and so is a file that is missing or that others can read', async () => {
    const inbox = await withView();
    await chmod(path, 0o644);
    await inbox.changed();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await rewrite({ note: 'mine' });
    await inbox.changed();
    await rm(path);
    await inbox.changed();
    expect(views).toBe(3);
    expect(await readFile(path, 'utf8')).toContain('"text": "one"');
    await rewrite({ read: true });
    await inbox.changed();
    expect(journal.project(p).waiting.has(id)).toBe(false);
    await inbox.stop();
  });

  it('is looked at once more where what it says could not be journalled', async () => {
    let isAdmitted = true;
    const inbox = inboxWith({ isAdmitted: async () => isAdmitted });
    const second = { ...row, seq: 2, id: 'msg_e_0_2', text: 'two' } as const;
    await journal.append([{ t: 'row', p, at: now, row }]);
    await inbox.refresh();
    await rewrite({ read: true });
    isAdmitted = false;
    await journal.append([{ t: 'row', p, at: now, row: second }]);
    await inbox.changed();
    expect(await readFile(path, 'utf8')).toContain('"text": "two"');
    isAdmitted = true;
    await inbox.changed();
    expect(journal.project(p).waiting.has(id)).toBe(false);
    await inbox.stop();
  });

  it('is looked at once more after a hook left its note, which the next view removes', async () => {
    const inbox = await withView();
    await rewrite({ read: true, via: note });
    await inbox.changed();
    expect(await readFile(path, 'utf8')).toContain('"via"');
    await inbox.changed();
    expect(await readFile(path, 'utf8')).not.toContain('"via"');
    await inbox.stop();
  });
});

describe('whether git could have put the file there is asked before an answer', () => {
  const entry = { id, timestamp: '2026-02-15T14:30:00Z', from: 'user', text: 'one', read: false };
  const row = { seq: 1, id, at: now, kind: 'message', text: 'one', expiresAt: 9e15 } as const;

  async function givenBy(...entries: object[]): Promise<{ texts: string[]; asked: number }> {
    let asked = 0;
    await journal.append([{ t: 'row', p, at: now, row }]);
    await writeFile(path, JSON.stringify({ messages: entries }));
    const inbox = inboxWith({
      isAdmitted: async () => {
        asked += 1;
        return false;
      },
    });
    const { messages } = await inbox.waiting();
    const seen = { texts: messages.map((message) => message.entry.text), asked };
    await inbox.stop();
    return seen;
  }

  it('never while the file says nothing that the journal does not know', async () => {
    expect(await givenBy(entry)).toEqual({ texts: ['one'], asked: 0 });
  });

  it('when a message of another program stands there, which is not given then', async () => {
    expect(await givenBy(entry, { ...entry, id: 'in_1', text: 'planted' })).toEqual({ texts: ['one'], asked: 1 });
  });

  it('when the file says that a message of the phone was taken, which is then given nevertheless', async () => {
    expect(await givenBy({ ...entry, read: true })).toEqual({ texts: ['one'], asked: 1 });
  });
});

describe('a message that stands read in the file', () => {
  const row = { seq: 1, id, at: now, kind: 'message', text: 'one', expiresAt: 9e15 } as const;
  const note: HookNote = { tool: 'gemini', session: 's', transcript: '/s.jsonl', at: 7 };

  async function readBy(via?: object, more?: ProjectRecord): Promise<InboxSync> {
    const inbox = inboxWith({});
    await journal.append([{ t: 'row', p, at: now, row }]);
    await inbox.refresh();
    const { messages } = JSON.parse(await readFile(path, 'utf8'));
    await writeFile(path, JSON.stringify({ messages: [{ ...messages[0], read: true, ...(via ? { via } : {}) }] }));
    if (more) await journal.append([more]);
    await inbox.catchUp();
    return inbox;
  }

  it('with the note of a hook that worked alone counts as handed over, and proof reads from there', async () => {
    const inbox = await readBy(note);
    const hand = { tool: 'gemini', session: 's', transcript: '/s.jsonl', offset: 7, at: now };
    expect(journal.project(p).messages.get(id)).toMatchObject({ phase: 'handed', hand });
    await inbox.stop();
  });

  it('with such a note and words that an edit has replaced was given in those words, and the new words follow', async () => {
    const edit = { seq: 2, id: 'msg_e_0_2', at: now, kind: 'edit', editOf: id, text: 'rather two' } as const;
    const inbox = await readBy(note, { t: 'row', p, at: now, row: edit });
    expect([...journal.project(p).messages.values()].map((each) => [each.row.id, each.row.text, each.phase])).toEqual([
      [id, 'one', 'handed'],
      ['msg_e_0_2', 'rather two', 'waiting'],
    ]);
    await inbox.stop();
  });

  it.each([undefined, {}, { ...note, tool: 'Vim 9' }, { ...note, at: -1 }, { ...note, transcript: 1 }])(
    'without such a note, as %j, was taken by another program',
    async (via) => {
      const inbox = await readBy(via);
      expect(journal.project(p).messages.get(id)).toMatchObject({ phase: 'ended', ended: 'taken' });
      await inbox.stop();
    },
  );

  it.each([
    ['by a hook alone', note, { phase: 'handed' }],
    ['by another program', undefined, { phase: 'ended', ended: 'taken' }],
  ])('%s before it expired did not expire, however late the daemon looks', async (_, via, state) => {
    let relayNow = now;
    const inbox = inboxWith({ relayNow: () => relayNow });
    await journal.append([{ t: 'row', p, at: now, row: { ...row, expiresAt: now + 1 } }]);
    await inbox.refresh();
    const [entry] = JSON.parse(await readFile(path, 'utf8')).messages;
    await writeFile(path, JSON.stringify({ messages: [{ ...entry, read: true, ...(via ? { via } : {}) }] }));
    relayNow = now + 1;
    expect((await inbox.waiting()).messages).toEqual([]);
    await inbox.refresh();
    expect(journal.project(p).messages.get(id)).toMatchObject(state);
    await inbox.stop();
  });

  it('that was given and came back is unread again, without the note of the hand-over', async () => {
    const inbox = await readBy(note);
    await journal.append([{ t: 'returned', p, at: now, ids: [id] }]);
    await inbox.refresh();
    expect(journal.project(p).messages.get(id)).toMatchObject({ phase: 'waiting', attempt: 1 });
    expect(JSON.parse(await readFile(path, 'utf8')).messages).toEqual([
      expect.not.objectContaining({ via: expect.anything() }),
    ]);
    expect((await inbox.waiting()).messages).toMatchObject([{ entry: { id, read: false, attempt: 1 } }]);
    await inbox.stop();
  });
});

it('an entry of another program that copied a signature goes an hour after a hook alone gave it', async () => {
  const inbox = inboxWith({ signer: createSigner('ab'.repeat(32), p) });
  const row = { seq: 1, id, at: now, kind: 'message', text: 'one', expiresAt: 9e15 } as const;
  await journal.append([{ t: 'row', p, at: now, row }]);
  await inbox.refresh();
  const [signed] = JSON.parse(await readFile(path, 'utf8')).messages;
  const via: HookNote = { tool: 'gemini', session: 's', transcript: null, at: 0 };
  const old = { ...signed, timestamp: '2026-02-15T12:30:00Z', read: true, via };
  const copies = [
    { ...old, id: 'in_1', text: 'two' },
    { ...old, text: 'three' },
    { ...old, id: 'stop_x', control: 'stop' },
  ];
  await writeFile(path, JSON.stringify({ messages: [signed, ...copies] }));
  await inbox.refresh();
  expect(JSON.parse(await readFile(path, 'utf8')).messages).toEqual([signed]);
  await inbox.stop();
});

describe('a hand-over', () => {
  const row = { seq: 1, id, at: now, kind: 'message', text: 'one', expiresAt: 9e15 } as const;
  const note: HookNote = { tool: 'gemini', session: 's', transcript: null, at: 0 };
  const inFile = async () => JSON.parse(await readFile(path, 'utf8')).messages[0];

  it('marks the file with its note before the journal has it', async () => {
    const inbox = inboxWith({});
    await journal.append([{ t: 'row', p, at: now, row }]);
    await inbox.refresh();
    const { messages } = await inbox.waiting();
    const seen: object[] = [];
    const record = async () => void seen.push(await inFile());
    expect(await inbox.take(messages, note, record)).toBe(true);
    expect(seen).toMatchObject([{ id, read: true, via: note }]);
    await inbox.stop();
  });

  it('in the moment in which the message expires ends handed over, and the phone is not told otherwise', async () => {
    let relayNow = now;
    const inbox = inboxWith({ relayNow: () => relayNow });
    await journal.append([{ t: 'row', p, at: now, row: { ...row, expiresAt: now + 1 } }]);
    await inbox.refresh();
    const { messages } = await inbox.waiting();
    const record = async () => {
      relayNow = now + 1;
      await inbox.waiting();
      const hand = { tool: 'gemini', session: 's', transcript: null, offset: 0 };
      await journal.append([{ t: 'handed', p, at: now, ids: [id], ...hand }]);
    };
    expect(await inbox.take(messages, note, record)).toBe(true);
    expect(journal.project(p).messages.get(id)).toMatchObject({ phase: 'handed' });
    expect([...journal.project(p).receipts.values()]).toEqual([]);
    await inbox.stop();
  });

  it('leaves the file as it was when the journal cannot be written', async () => {
    const inbox = inboxWith({});
    await journal.append([{ t: 'row', p, at: now, row }]);
    await inbox.refresh();
    const { messages } = await inbox.waiting();
    const before = await inFile();
    const noSpace = () => Promise.reject(new Error('no space left on the disk'));
    await expect(inbox.take(messages, note, noSpace)).rejects.toThrow('no space left');
    await inbox.refresh();
    expect(await inFile()).toEqual(before);
    expect(journal.project(p).messages.get(id)).toMatchObject({ phase: 'waiting', attempt: 0 });
    await inbox.stop();
  });

  it('waits for the lock of another writer as long as its hook may wait', async () => {
    const inbox = inboxWith({});
    await journal.append([{ t: 'row', p, at: now, row }]);
    await inbox.refresh();
    const { messages } = await inbox.waiting();
    const held = await acquireLock(path, { timeoutMs: 1_000, short: true });
    const record = async () => {};
    const taken = inbox.take(messages, note, record, 60_000);
    expect(await inbox.take(messages, note, record)).toBe(false);
    await held.release();
    expect(await taken).toBe(true);
    await inbox.stop();
  });

  it('fails for a message that a hook alone took first', async () => {
    const inbox = inboxWith({});
    await journal.append([{ t: 'row', p, at: now, row }]);
    await inbox.refresh();
    const { messages } = await inbox.waiting();
    await writeFile(path, JSON.stringify({ messages: [{ ...(await inFile()), read: true, via: note }] }));
    let isRecorded = false;
    const record = async () => {
      isRecorded = true;
    };
    expect([await inbox.take(messages, note, record), isRecorded]).toEqual([false, false]);
    await inbox.stop();
  });
});
