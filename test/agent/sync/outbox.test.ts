// Answers that no place can take for a while.

import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { readSpool } from '../../../agent/files/spool.ts';
import { openJournal } from '../../../agent/journal/journal.ts';
import { createRelayClient } from '../../../agent/relay-client.ts';
import { createOutages } from '../../../agent/sync/outages.ts';
import { createOutbox } from '../../../agent/sync/outbox.ts';
import type { OutboxEntry } from '../../../protocol/files.ts';

const p = '1.0';
const now = Date.parse('2026-02-15T14:30:00Z');

it('answers given while the disk is full lie in the spool of another disk, and in the journal, in order, as soon as it has room', async () => {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'wa-outbox-')));
  const path = join(dir, 'journal.jsonl');
  const elsewhere = join(dir, 'elsewhere');
  const journal = await openJournal(path, () => now);
  let isFull = true;
  let onKept = () => {};
  const noSpace = () => Promise.reject(new Error('no space left on the disk'));
  const outbox = createOutbox({
    project: journal.project(p),
    address: { mailbox: '1', project: 0 },
    journal: {
      ...journal,
      append: async (records) => {
        if (isFull) return noSpace();
        await journal.append(records);
        onKept();
      },
    },
    client: createRelayClient({ url: 'http://127.0.0.1:9', token: 'none' }),
    path: join(dir, 'wa_outbox.json'),
    spool: { dirs: [join(path, 'full'), elsewhere], startedAt: 7 },
    admit: () => Promise.resolve(),
    isAdmitted: () => Promise.resolve(true),
    prepare: () => (isFull ? noSpace() : Promise.resolve()),
    takeSpool: () => Promise.resolve(),
    render: async () => undefined,
    keepText: () => noSpace(),
    onQuarantined: () => {},
    onEnded: () => {},
    clock: () => now,
    random: () => 0.5,
    log: () => {},
    outages: createOutages({ log: () => {}, clock: () => 0 }),
  });
  const answer = (text: string): OutboxEntry => ({
    id: `resp_${text}`,
    timestamp: '2026-02-15T14:30:00Z',
    from: 'agent',
    text,
    sent: false,
  });
  await outbox.report(answer('one'), undefined);
  await outbox.report(answer('two'), 'msg_1');
  expect(journal.project(p).outbox.size).toBe(0);
  const { records } = await readSpool([elsewhere]);
  expect(records.map(({ record }) => record)).toEqual([
    {
      kind: 'answer',
      project: p,
      at: now,
      answer: { id: 'resp_one', timestamp: answer('').timestamp, text: 'one' },
      startedAt: 7,
    },
    expect.objectContaining({ answer: expect.objectContaining({ text: 'two' }), replyTo: 'msg_1' }),
  ]);

  const kept = new Promise<void>((resolve) => {
    onKept = resolve;
  });
  isFull = false;
  await kept;
  const texts = [...journal.project(p).outbox.values()].map(
    ({ source }) => source.kind === 'file' && source.answer.text,
  );
  expect(texts).toEqual(['one', 'two']);
  expect(await readFile(path, 'utf8')).toContain('resp_two');
  await vi.waitFor(async () => expect(await readSpool([elsewhere])).toEqual({ records: [], broken: 0 }));
  await outbox.stop();
  await journal.close();
  await rm(dir, { recursive: true, force: true });
});
