// Answers while journal and file cannot be written.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ProjectRecord } from '../../../agent/journal/records.ts';
import { createSigner, outboxKey } from '../../../agent/mailbox/signing.ts';
import { toldIn } from '../../../agent/session/stored-turn.ts';
import type { OutboxEntry } from '../../../protocol/files.ts';
import { outboxOf } from '../../helpers/outbox.ts';
import { journalIn, temporaryFolder, testClock } from '../../helpers/surroundings.ts';

const p = '1.0';
const clock = testClock(Date.parse('2026-02-15T14:30:00Z'));
const now = clock.now();

it('answers given while the disk is full are in the journal, in order, as soon as it has room, and each of them once', async () => {
  const dir = await temporaryFolder();
  const journal = await journalIn(dir, clock);
  let isFull = true;
  let onKept = () => {};
  const noSpace = () => Promise.reject(new Error('no space left on the disk'));
  const outbox = outboxOf({
    project: journal.project(p),
    journal: {
      ...journal,
      append: async (records) => {
        if (isFull) return noSpace();
        await journal.append(records);
        onKept();
      },
    },
    path: join(dir, 'wa_outbox.json'),
    prepare: () => (isFull ? noSpace() : Promise.resolve()),
    clock: clock.now,
  });
  const answer = (number: number, text: string): OutboxEntry => ({
    id: `resp_${String(number).padStart(32, '0')}`,
    timestamp: '2026-02-15T14:30:00Z',
    from: 'agent',
    text,
    sent: false,
  });
  const more = { turn: { runs: false }, receipts: [] };
  await outbox.report(answer(1, 'one'), { replyTo: undefined, ...more });
  await outbox.report(answer(2, 'two'), { replyTo: 'msg_1', ...more });
  // Reported again with another text: by a hook that found the daemon too slow, or at the next prompt.
  await outbox.report(answer(2, 'and two'), { replyTo: undefined, ...more });
  expect(journal.project(p).outbox.size).toBe(0);

  const kept = new Promise<void>((resolve) => {
    onKept = resolve;
  });
  isFull = false;
  await kept;
  const texts = [...journal.project(p).outbox.values()].map(
    ({ source }) => source.kind === 'file' && source.answer.text,
  );
  expect(texts).toEqual(['one', 'two']);
  expect([...journal.project(p).outbox.keys()]).toEqual([answer(1, '').id, answer(2, '').id]);
  expect(await readFile(join(dir, 'journal.jsonl'), 'utf8')).toContain(answer(2, '').id);
  await outbox.stop();
  await journal.close();
});

it('the outbox key of an answer is its id only where wa-sync signed this very text, so that a copy with other words is sent as well', () => {
  const signer = createSigner('a'.repeat(64), p);
  const entry: OutboxEntry = {
    id: `resp_${'0'.repeat(32)}`,
    timestamp: '2026-02-15T14:30:00Z',
    from: 'agent',
    text: 'Done.',
    sent: false,
  };
  const signed = signer.sign(entry, 'outbox');
  expect(outboxKey(signed, signer)).toBe(entry.id);
  expect(outboxKey({ ...signed, timestamp: '2026-02-15T14:30:01Z' }, signer)).not.toBe(entry.id);
  expect(outboxKey({ ...signed, text: 'Another.' }, signer)).not.toBe(entry.id);
  expect(outboxKey(entry, signer)).not.toBe(entry.id);
  const others = [createSigner('b'.repeat(64), p), createSigner('a'.repeat(64), '2.0')];
  for (const other of others) expect(outboxKey(signed, other)).not.toBe(entry.id);
  expect(signer.isSigned(signed, 'inbox')).toBe(false);
});

it('the end of a turn that a hook told alone stays known when another program takes the entry out of the file, and after a restart', async () => {
  const dir = await temporaryFolder();
  const path = join(dir, 'wa_outbox.json');
  const write = (...messages: object[]) => writeFile(path, JSON.stringify({ messages }), { mode: 0o600 });
  const via = { tool: 'gemini', session: 's', transcript: '/s.jsonl', at: 7 };
  const entry = (number: number): OutboxEntry => ({
    id: `resp_${String(number).padStart(32, '0')}`,
    timestamp: '2026-02-15T14:30:00Z',
    from: 'agent',
    text: `Done ${number}.`,
    sent: false,
    via,
  });
  const { sign } = createSigner('a'.repeat(64), p);
  const ends = [{ told: { id: entry(1).id, text: 'Done 1.' }, transcript: '/s.jsonl', at: 7 }];

  const before = await journalIn(dir, clock);
  const outbox = outboxOf({ project: before.project(p), journal: before, path, clock: clock.now });
  // The second has the note of a hook, and no signature of one.
  await write(sign(entry(1), 'outbox'), entry(2));
  await outbox.scan();
  expect(before.project(p).outbox.size).toBe(2);
  await write();
  await outbox.scan();
  expect(toldIn(before.project(p))).toEqual(ends);
  await outbox.stop();
  await before.close();

  const after = await journalIn(dir, clock);
  expect(toldIn(after.project(p))).toEqual(ends);
  await after.close();
});

it('a signature is of one time at which the entry expires, or of none', () => {
  const signer = createSigner('a'.repeat(64), p);
  const entry = { id: 'msg_e_0_1', timestamp: '2026-02-15T14:30:00Z', text: 'go' };
  for (const expiresAt of [undefined, 1_771_252_200_000]) {
    const signed = signer.sign({ ...entry, ...(expiresAt ? { expiresAt } : {}) }, 'inbox');
    expect(signer.isSigned(signed, 'inbox')).toBe(true);
    for (const other of [undefined, null, Number.POSITIVE_INFINITY, Number.NaN, '1771252200000', 1_771_252_200_001]) {
      const changed = { ...signed, expiresAt: other };
      expect(signer.isSigned(changed, 'inbox'), String(other)).toBe(other === expiresAt);
    }
  }
});

it('an answer and what became of the messages of its turn are one append of the journal, or none', async () => {
  const dir = await temporaryFolder();
  const journal = await journalIn(dir, clock);
  const appends: string[][] = [];
  let isFull = true;
  const outbox = outboxOf({
    project: journal.project(p),
    journal: {
      ...journal,
      append: async (records) => {
        if (isFull) throw new Error('no space left on the disk');
        if (records.length > 0) appends.push(records.map(({ t }) => t));
        await journal.append(records);
      },
    },
    path: join(dir, 'wa_outbox.json'),
    prepare: () => Promise.reject(new Error('no file here')),
    clock: clock.now,
  });
  const row = { seq: 1, id: 'msg_e_0_1', at: now, kind: 'message', text: 'go', expiresAt: now + 1e9 } as const;
  await journal.append([{ t: 'row', p, at: now, row }]);
  const id = `resp_${'1'.repeat(32)}`;
  const entry = { id, timestamp: '2026-02-15T14:30:00Z', from: 'agent', text: 'Done.', sent: false };
  const receipts: ProjectRecord[] = [{ t: 'ended', p, at: now, ids: [row.id], state: 'answered' }];
  const more = { replyTo: row.id, turn: { runs: false }, receipts };
  await expect(outbox.report(entry, more)).rejects.toThrow('no space left');
  expect(journal.project(p).messages.get(row.id)?.ended).toBeUndefined();
  isFull = false;
  await outbox.report(entry, more);
  expect(journal.project(p).messages.get(row.id)?.ended).toBe('answered');
  expect(journal.project(p).outbox.has(id)).toBe(true);
  expect(appends.filter((kinds) => kinds.includes('ended'))).toEqual([['entry', 'ended']]);
  await outbox.stop();
  await journal.close();
});
