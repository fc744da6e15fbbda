import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Journal } from '../../../agent/journal/journal.ts';
import type { RelayClient } from '../../../agent/relay/client.ts';
import { keepText } from '../../../agent/relay/documents.ts';
import { createOutages } from '../../../agent/relay/outages.ts';
import { createPosting } from '../../../agent/relay/posting.ts';
import { WaError } from '../../../protocol/errors.ts';
import { journalIn, temporaryFolder, testClock } from '../../helpers/surroundings.ts';

const p = '1000001.0';
const clock = testClock();
const now = clock.now();

let root: string;
let journal: Journal;
let stopping: AbortController;
let post: () => void;
let asked: string[];
let answers: (() => Promise<'sent'>)[];

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  root = await temporaryFolder();
  journal = await journalIn(root, clock);
  stopping = new AbortController();
  asked = [];
  answers = [];
  const upload: RelayClient['upload'] = async (_, { key, content }) => {
    asked.push(key);
    // A stream that nobody reads keeps its file open.
    for await (const _chunk of content);
    return { items: [{ key, state: (await answers.shift()?.()) ?? 'sent' }] };
  };
  post = createPosting({
    project: journal.project(p),
    address: { mailbox: '1000001', project: 0 },
    journal,
    client: { upload } as RelayClient,
    render: () => Promise.reject(new Error('no text here')),
    keepText: () => Promise.reject(new Error('no large text here')),
    ended: async () => {},
    clock: clock.now,
    random: () => 0,
    outages: createOutages({ log: () => {}, clock: () => 0 }),
    signal: stopping.signal,
  });
});

afterEach(async () => {
  stopping.abort();
  vi.useRealTimers();
  await journal.close();
});

async function queueDocument(): Promise<string> {
  const document = await keepText(join(root, 'documents'), 'answer.md', 'text', '');
  await journal.append([{ t: 'document', p, at: now, key: document.key, document: document.document }]);
  return document.key;
}

async function becomes(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

const refused = (retryAfterMs?: number) => async () => {
  throw new WaError('rate_limited', 'the chat has had its share', retryAfterMs === undefined ? {} : { retryAfterMs });
};

it('a document that the relay refuses for hours is not brought again before the hours are over', async () => {
  const hoursMs = 13_938_000;
  const key = await queueDocument();
  answers = [refused(hoursMs)];
  post();
  await becomes(() => vi.getTimerCount() === 1);
  vi.advanceTimersByTime(hoursMs - 1);
  expect([asked, vi.getTimerCount()]).toEqual([[key], 1]);
  vi.advanceTimersByTime(1);
  await becomes(() => journal.project(p).openKeys.size === 0);
  expect(asked).toEqual([key, key]);
});

it('a document that is refused without a time is brought again after the usual pause', async () => {
  const key = await queueDocument();
  answers = [refused()];
  post();
  await becomes(() => vi.getTimerCount() === 1);
  vi.advanceTimersByTime(500);
  await becomes(() => journal.project(p).openKeys.size === 0);
  expect(asked).toEqual([key, key]);
});

it('documents go one after the other, each once', async () => {
  const keys = [await queueDocument(), await queueDocument()];
  post();
  post();
  await becomes(() => journal.project(p).openKeys.size === 0);
  expect(asked).toEqual(keys);
});
