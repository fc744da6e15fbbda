import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { consumeSpool } from '../../../agent/daemon/spool.ts';
import { writeSpool } from '../../../agent/files/spool.ts';
import { type Journal, openJournal } from '../../../agent/journal/journal.ts';
import { toEntry } from '../../../agent/sync/inbox-view.ts';
import { identityOf } from '../../../protocol/files.ts';

const p = '1000001.0';
const id = 'msg_e_0_1';
const now = 1_790_000_000_000;

let root: string;
let journal: Journal;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'wa-spool-'));
  journal = await openJournal(join(root, 'journal.jsonl'), () => now);
  const row = { seq: 1, id, at: now, kind: 'message', text: 'go', expiresAt: now + 1e9 } as const;
  await journal.append([{ t: 'row', p, at: now, row }]);
});
afterEach(async () => {
  await journal.close();
  await rm(root, { recursive: true });
});

it('what a hook gave alone is its words: an edit that the journal had before it heard of that follows', async () => {
  const message = journal.project(p).messages.get(id);
  const identities = message ? [identityOf(toEntry(message))] : [];
  const edit = { seq: 2, id: 'msg_e_0_2', at: now, kind: 'edit', editOf: id, text: 'rather stop' } as const;
  await journal.append([{ t: 'row', p, at: now, row: edit }]);
  const dir = join(root, 'spool');
  const given = { session: 's', tool: 'gemini', transcript: null, offset: 0 } as const;
  await writeSpool([dir], { kind: 'handed', project: p, at: now, ids: [id], identities, ...given });
  await consumeSpool([dir], { journal, startedAt: now, clock: () => now, log: () => {} });
  expect([...journal.project(p).messages.values()].map(({ row, phase }) => [row.id, row.text, phase])).toEqual([
    [id, 'go', 'handed'],
    ['msg_e_0_2', 'rather stop', 'waiting'],
  ]);
});

it('what a hook gave without knowing that it is the owner’s, from an old view, is given all the same', async () => {
  const message = journal.project(p).messages.get(id);
  const identities = message ? [identityOf(toEntry(message)), 'of another program'] : [];
  const dir = join(root, 'spool');
  const given = { session: 's', tool: 'gemini', transcript: null, offset: 0 } as const;
  await writeSpool([dir], { kind: 'handed', project: p, at: now, ids: [], identities, ...given });
  const { taken } = await consumeSpool([dir], { journal, startedAt: now, clock: () => now, log: () => {} });
  expect(taken).toMatchObject([{ kind: 'handed', ids: [id], identities }]);
  expect(journal.project(p).messages.get(id)?.phase).toBe('handed');
});

it('an answer that a daemon keeps there while it goes on trying is for the next daemon', async () => {
  const dir = join(root, 'spool');
  const answer = { id: 'resp_1', timestamp: '2026-02-15T14:30:15Z', text: 'done' };
  await writeSpool([dir], { kind: 'answer', project: p, at: now, answer, replyTo: id, startedAt: now });
  const take = (startedAt: number) => consumeSpool([dir], { journal, startedAt, clock: () => now, log: () => {} });
  expect((await take(now)).taken).toEqual([]);
  expect((await take(now + 1)).taken).toHaveLength(1);
  const sources = [...journal.project(p).outbox.values()].map(({ source }) => source);
  expect(sources).toEqual([{ kind: 'file', answer, replyTo: id }]);
  expect((await take(now + 1)).taken).toEqual([]);
});

it('an answer that the daemon told within three seconds before the hook did, alone, is told once; an older one again', async () => {
  const dir = join(root, 'spool');
  const answer = { id: 'resp_1', timestamp: '2026-02-15T14:30:15Z', text: 'done' };
  await journal.append([{ t: 'entry', p, at: now, key: 'of the daemon', answer, replyTo: id }]);
  await writeSpool([dir], {
    kind: 'answer',
    project: p,
    at: now + 2_999,
    answer: { ...answer, id: 'resp_2', text: 'first\ndone' },
  });
  await writeSpool([dir], { kind: 'answer', project: p, at: now + 9_000, answer: { ...answer, id: 'resp_3' } });
  await consumeSpool([dir], { journal, startedAt: now, clock: () => now, log: () => {} });
  const project = journal.project(p);
  const open = [...project.openKeys].map((key) => project.outbox.get(key)?.source);
  expect(open).toMatchObject([{ answer: { id: 'resp_1' } }, { answer: { id: 'resp_3' } }]);
});
