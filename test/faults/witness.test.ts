// What the history of a text for the phone is made of: whatever was seen of it while it was there.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createWitness, type Witness } from '../../scripts/chaos/witness.ts';

let dir: string;
let witness: Witness;
let seen: [string, string][];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'wa-witness-'));
  seen = [];
  witness = createWitness(
    () => 1,
    (token, what) => seen.push([token, what]),
  );
});
afterEach(async () => {
  witness.stop();
  await rm(dir, { recursive: true });
});

it('a text that is posted under two keys has both, although its request comes in pieces', () => {
  witness.watch('request', Buffer.from('POST /v1/outbox\r\n\r\n{"items":[{"key":"one","parts":['), 1);
  witness.watch('request', Buffer.from('{"key":"other","parts":[{"text":"wa-s8"}]}'), 2);
  witness.watch('request', Buffer.from('{"text":"Done, wa-a7."}]},{"key":"two","parts":[{"text":"wa-a7"}]}]}'), 1);
  witness.watch('answer', Buffer.from('{"key":"three","text":"wa-a7"}'), 1);
  expect(witness.keysOf('wa-a7')).toEqual(['one', 'two']);
  expect(witness.keysOf('wa-s8')).toEqual(['other']);
});

it('an entry of the outbox file is seen at each change, and a line of the journal although it is gone later', async () => {
  const outboxFile = join(dir, 'outbox.json');
  const journal = join(dir, 'journal.jsonl');
  witness.follow({ outboxFile, journal });
  const write = (entry: object) => writeFile(outboxFile, JSON.stringify({ messages: [{ ...entry, text: 'wa-a7' }] }));
  await write({ sent: false });
  await expect.poll(() => seen).toHaveLength(1);
  await writeFile(journal, '{"t":"entry"}\n');
  await expect.poll(() => witness.records.map(({ what }) => what)).toContain('journal {"t":"entry"}');
  await rm(journal);
  await write({ id: 'resp_1', sent: true });
  await expect.poll(() => seen).toHaveLength(2);
  await rm(outboxFile);
  expect(seen).toEqual([
    ['wa-a7', 'outbox file: {"sent":false}'],
    ['wa-a7', 'outbox file: {"id":"resp_1","sent":true}'],
  ]);
});
