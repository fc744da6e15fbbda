// A poll and a hook that found the daemon too slow take the same message in the same moment: who marked the file first has it.

import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Journal, openJournal } from '../../../agent/journal/journal.ts';
import type { InboxSync } from '../../../agent/mailbox/inbox.ts';
import { createLeases } from '../../../agent/session/leases.ts';
import { loneInbox } from '../../helpers/inbox.ts';

const p = '1.0';
const id = 'msg_e_0_1';
const now = Date.parse('2026-02-15T14:30:00Z');
const holder = { connection: 'c', client: 'x', pid: 1, started: '', space: '', parent: 0 };
let dir: string;
let path: string;
let journal: Journal;
beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), 'wa-leases-')));
  await mkdir(join(dir, 'project'));
  path = join(dir, 'project', 'wa_inbox.json');
  journal = await openJournal(join(dir, 'journal.jsonl'), () => now);
});
afterEach(async () => {
  await journal.close();
  await rm(dir, { recursive: true, force: true });
});

/** `race` happens after the lease is in the journal and before the file is marked, `before` when what waits was read. */
async function takeDuring(
  race: (inbox: InboxSync) => Promise<void>,
  before: (inbox: InboxSync) => Promise<void> = () => Promise.resolve(),
) {
  const inbox = loneInbox({
    project: journal.project(p),
    journal,
    path,
    clock: () => now,
  });
  const row = { seq: 1, id, at: now, kind: 'message', text: 'one', expiresAt: 9e15 } as const;
  await journal.append([{ t: 'row', p, at: now, row }]);
  await inbox.refresh();
  const leases = createLeases({
    project: journal.project(p),
    journal,
    inbox: {
      ...inbox,
      waiting: () => inbox.waiting().then((found) => before(inbox).then(() => found)),
      claim: (messages, record) => inbox.claim(messages, () => record().then(() => race(inbox))),
    },
    exclusive: (work) => work(),
    isGone: () => false,
    tell: () => Promise.resolve(),
    onReceipts: () => {},
    clock: () => now,
    log: () => {},
  });
  return { given: await leases.take(holder, 10), inbox };
}
const phase = () => journal.project(p).messages.get(id)?.phase;
async function markRead(via?: object): Promise<void> {
  const { messages } = JSON.parse(await readFile(path, 'utf8'));
  await writeFile(path, JSON.stringify({ messages: messages.map((entry: object) => ({ ...entry, read: true, via })) }));
}

it('a hook that marked the file first has the message, and the poll does not give it', async () => {
  const { given, inbox } = await takeDuring(() => markRead({ tool: 'gemini', session: 's', transcript: null, at: 0 }));
  await inbox.refresh();
  expect([given, phase()]).toEqual([[], 'handed']);
});

it('another program that marked it read has taken it', async () => {
  const { given } = await takeDuring(() => markRead());
  expect(given).toEqual([]);
  expect(journal.project(p).messages.get(id)).toMatchObject({ phase: 'ended', ended: 'taken', attempt: 0 });
});

it('a refresh in between does not look like another reader', async () => {
  const { given, inbox } = await takeDuring((each) => each.refresh());
  await inbox.refresh();
  expect([given.map(({ entry }) => entry.id), phase()]).toEqual([[id], 'leased']);
  expect(JSON.parse(await readFile(path, 'utf8')).messages).toMatchObject([{ id, read: true }]);
});

it('an edit that comes while its message is being leased follows as a correction, and nothing is given twice', async () => {
  const edit = { seq: 2, id: 'msg_e_0_2', at: now, kind: 'edit', editOf: id, text: 'two' } as const;
  const { inbox, given } = await takeDuring(
    () => Promise.resolve(),
    async (each) => {
      await journal.append([{ t: 'row', p, at: now, row: edit }]);
      await each.refresh();
    },
  );
  expect(given.map(({ entry }) => entry.text)).toEqual(['one']);
  await inbox.refresh();
  const { messages } = await inbox.waiting();
  const correction = { id: edit.id, text: 'two', editOf: id };
  expect(messages).toMatchObject([{ fromOwner: true, entry: correction }]);
  expect(JSON.parse(await readFile(path, 'utf8')).messages).toMatchObject([{ ...correction, read: false }]);
});
