// Answers that no place can take for a while.

import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { outboxKey } from '../../../agent/files/answer-id.ts';
import { createSigner } from '../../../agent/files/signing.ts';
import { openJournal } from '../../../agent/journal/journal.ts';
import { createRelayClient } from '../../../agent/relay-client.ts';
import { createOutages } from '../../../agent/sync/outages.ts';
import { createOutbox } from '../../../agent/sync/outbox.ts';
import type { OutboxEntry } from '../../../protocol/files.ts';

const p = '1.0';
const now = Date.parse('2026-02-15T14:30:00Z');

it('answers given while the disk is full are in the journal, in order, as soon as it has room, and each of them once', async () => {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'wa-outbox-')));
  const path = join(dir, 'journal.jsonl');
  const signer = createSigner('a'.repeat(64), p);
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
    signer,
    admit: () => Promise.resolve(),
    isAdmitted: () => Promise.resolve(true),
    prepare: () => (isFull ? noSpace() : Promise.resolve()),
    render: async () => undefined,
    keepText: () => noSpace(),
    onQuarantined: () => {},
    onEnded: () => {},
    clock: () => now,
    random: () => 0.5,
    log: () => {},
    outages: createOutages({ log: () => {}, clock: () => 0 }),
  });
  const answer = (number: number, text: string): OutboxEntry => ({
    id: `resp_${String(number).padStart(32, '0')}`,
    timestamp: '2026-02-15T14:30:00Z',
    from: 'agent',
    text,
    sent: false,
  });
  const turn = { runs: false };
  await outbox.report(answer(1, 'one'), { replyTo: undefined, turn });
  await outbox.report(answer(2, 'two'), { replyTo: 'msg_1', turn });
  // Told again, in other words: by a hook that found the daemon too slow, or at the next prompt.
  await outbox.report(answer(2, 'and two'), { replyTo: undefined, turn });
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
  expect(await readFile(path, 'utf8')).toContain(answer(2, '').id);
  await outbox.stop();
  await journal.close();
  await rm(dir, { recursive: true, force: true });
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
