// What the daemon brings to the relay, and when it brings it again: real journal, pull loop and outbox, a relay that a test scripts.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Journal } from '../../../agent/journal/journal.ts';
import { createSigner, outboxKey } from '../../../agent/mailbox/signing.ts';
import type { RelayClient } from '../../../agent/relay/client.ts';
import type { OutboxSync } from '../../../agent/relay/outbox.ts';
import { startPull } from '../../../agent/relay/pull.ts';
import { messageId } from '../../../protocol/ids.ts';
import type { KeyEnd, OutcomeRow } from '../../../protocol/log.ts';
import type { OutboxAnswer, PollAnswer, PollRequest } from '../../../protocol/relay-api.ts';
import { outboxOf, quietOutages } from '../../helpers/outbox.ts';
import { journalIn, temporaryFolder, testClock } from '../../helpers/surroundings.ts';

const p = '1000001.0';
const address = { mailbox: '1000001', project: 0 };
const clock = testClock(Date.parse('2026-02-15T14:30:00Z'));
const now = clock.now();
const entry = { id: 'resp_1', timestamp: '2026-02-15T14:30:00Z', from: 'agent', text: 'Done.', sent: false };
const signer = createSigner('a'.repeat(64), p);
const key = outboxKey(entry, signer);
const queued = (epoch = 'e1') => ({ epoch, items: [{ key, state: 'queued' as const }] });
const outcome = (seq: number, end: Omit<KeyEnd, 'key'>, epoch = 'e1'): OutcomeRow => ({
  seq,
  id: messageId(epoch, 0, seq),
  at: now,
  kind: 'outcome',
  outcome: { key, ...end },
});

let root: string;
let journal: Journal;
let posted: string[][];
/** What the relay answers to the posts, in order; the last one again. */
let answers: (OutboxAnswer | Promise<OutboxAnswer>)[];
let ended: KeyEnd[];
let stop: () => Promise<void>;

beforeEach(async () => {
  root = await temporaryFolder();
  journal = await journalIn(root, clock);
  posted = [];
  answers = [queued()];
  ended = [];
  stop = async () => {};
  await writeFile(join(root, 'wa_outbox.json'), JSON.stringify({ messages: [entry] }), { mode: 0o600 });
});
afterEach(async () => {
  await stop();
  await journal.close();
});

function startOutbox(): OutboxSync {
  const outbox = outboxOf({
    project: journal.project(p),
    address,
    journal,
    client: {
      async outbox({ items }) {
        posted.push(items.map((item) => item.key));
        return (answers.length > 1 ? answers.shift() : answers[0]) as OutboxAnswer;
      },
    } as Partial<RelayClient> as RelayClient,
    path: join(root, 'wa_outbox.json'),
    signer,
    render: async ({ key: of }) => ({ item: { key: of, class: 'answer', parts: [{ text: 'Done.', entities: [] }] } }),
    onEnded: (ends) => ended.push(...ends),
    clock: clock.now,
  });
  stop = () => outbox.stop();
  return outbox;
}

/** The relay's answers to the polls, one after the other; resolves when the daemon has dealt with them. */
async function polls(outbox: OutboxSync, ...script: Partial<PollAnswer>[]): Promise<void> {
  await new Promise<void>((resolve) => {
    const pull = startPull({
      project: journal.project(p),
      address,
      journal,
      client: {
        poll: async (_: PollRequest, signal: AbortSignal) => {
          const next = script.shift();
          if (next) return { epoch: 'e1', now, rows: [], controls: [], cursor: 0, ...next };
          resolve();
          return new Promise((__, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
        },
      } as Partial<RelayClient> as RelayClient,
      daemon: { id: 'daemon-1', startedAt: 1 },
      clock: () => now,
      random: () => 0,
      pace: { turn: async () => {}, giveBack: () => {} },
      log: () => {},
      outages: quietOutages(),
      onRows: async () => {},
      onEnded: (ends) => void outbox.ended(ends),
      onEpoch: () => outbox.postOpen(),
      onRelayClock: () => {},
    });
    const stopOutbox = stop;
    stop = async () => {
      await pull.stop();
      await stopOutbox();
    };
  });
}

const state = () => journal.project(p).outbox.get(key)?.state;
const becomes = (wanted: ReturnType<typeof state>) => expect.poll(() => state()).toBe(wanted);
const inFile = async () => JSON.parse(await readFile(join(root, 'wa_outbox.json'), 'utf8')).messages as object[];

it('a key is posted once, and the row of its outcome marks the entry in the file', async () => {
  const outbox = startOutbox();
  await polls(outbox, {});
  await outbox.scan();
  await becomes('posted');
  await outbox.scan();
  outbox.postOpen();
  await stop();
  const again = startOutbox();
  await again.scan();
  await polls(again, { rows: [outcome(1, { state: 'sent', ref: '7' })] });
  await expect.poll(() => inFile()).toEqual([{ ...entry, sent: true }]);
  expect([posted, ended]).toEqual([[[key]], [{ key, state: 'sent', ref: '7' }]]);
  expect(journal.project(p).openKeys.size).toBe(0);
});

it('a daemon that was killed after it journalled an outcome marks the file when it starts', async () => {
  const outbox = startOutbox();
  await outbox.scan();
  await stop();
  const end = { state: 'dead', error: { code: 'chat_unreachable', reason: 'blocked' } } as const;
  const at = { p, at: now };
  await journal.append([
    { t: 'epoch', ...at, epoch: 'e1', cursor: 0 },
    { t: 'row', ...at, row: outcome(1, end) },
  ]);
  await journal.close();
  journal = await journalIn(root, clock);
  await startOutbox().scan();
  expect(await inFile()).toEqual([{ ...entry, sent: true, error: 'chat_unreachable' }]);
  expect([journal.project(p).cursor, posted.length]).toEqual([1, 1]);
});

it('a key whose outcome another daemon has acknowledged is posted again, and the answer tells it', async () => {
  const outbox = startOutbox();
  await polls(outbox, {});
  await outbox.scan();
  await becomes('posted');
  answers = [{ epoch: 'e1', items: [{ key, state: 'sent', ref: '7' }] }];
  await polls(outbox, { cursor: 9 });
  await becomes('ended');
  expect([posted, journal.project(p).cursor]).toEqual([[[key], [key]], 9]);
});

it('a new storage of the relay is given what the old one had taken, also when that answers late', async () => {
  const outbox = startOutbox();
  await polls(outbox, {});
  let answer: (late: OutboxAnswer) => void = () => {};
  answers = [new Promise((resolve) => (answer = resolve)), queued('e2')];
  await outbox.scan();
  await polls(outbox, { epoch: 'e2' });
  answer(queued('e1'));
  await becomes('posted');
  expect(posted).toEqual([[key], [key]]);
});

it('an outcome that comes before the answer to its post stands', async () => {
  const outbox = startOutbox();
  let answer: (late: OutboxAnswer) => void = () => {};
  answers = [new Promise((resolve) => (answer = resolve))];
  await outbox.scan();
  await polls(outbox, { rows: [outcome(1, { state: 'sent' })] });
  answer(queued());
  await expect.poll(() => inFile()).toEqual([{ ...entry, sent: true }]);
  await stop();
  expect([state(), ended]).toEqual(['ended', [{ key, state: 'sent' }]]);
});

it('of a dead letter that was sent again the later row counts, and an older one that comes again does not', async () => {
  const outbox = startOutbox();
  await outbox.scan();
  const dead = outcome(1, { state: 'dead', error: { code: 'rejected', reason: 'no' } });
  await polls(outbox, { rows: [dead] }, { rows: [dead, outcome(2, { state: 'sent' })] }, { rows: [dead] });
  expect(journal.project(p).outbox.get(key)?.end).toEqual({ key, state: 'sent' });
  expect(ended.map(({ state: each }) => each)).toEqual(['dead', 'sent']);
});
