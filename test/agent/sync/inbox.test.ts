// The inbox file follows the journal also where it could not be written for a while.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openJournal } from '../../../agent/journal/journal.ts';
import { loneInbox } from '../../helpers/inbox.ts';

const p = '1.0';
const id = 'msg_e_0_1';
const now = Date.parse('2026-02-15T14:30:00Z');

it('shows what was handed over as read as soon as the disk has room, without any other event', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'wa-inbox-'));
  const path = join(dir, 'wa_inbox.json');
  const journal = await openJournal(join(dir, 'journal.jsonl'), () => now);
  let isFull = false;
  let onRefreshed = () => {};
  const inbox = loneInbox({
    project: journal.project(p),
    journal,
    path,
    prepare: () => (isFull ? Promise.reject(new Error('no space left on the disk')) : Promise.resolve()),
    clock: () => now,
    onRefreshed: () => onRefreshed(),
  });
  const row = { seq: 1, id, at: now, kind: 'message', text: 'one', expiresAt: 9e15 } as const;
  await journal.append([{ t: 'row', p, at: now, row }]);
  await inbox.refresh();
  const { messages } = await inbox.waiting();
  isFull = true;
  await journal.append([{ t: 'handed', p, at: now, ids: [id], session: 's', transcript: null, offset: 0 }]);
  await inbox.markRead(messages);
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
  await journal.close();
  await rm(dir, { recursive: true, force: true });
});
