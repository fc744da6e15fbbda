// Fuzzes the inbox and the outbox file, with what anybody may have written into them, through the functions that read and update
// them. Holds no expectations.

import { mkdtemp, realpath, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Entry, MailboxKind } from '../../agent/mailbox/merge.ts';
import { readMailbox, updateMailboxFile } from '../../agent/mailbox/update.ts';
import { identityOf } from '../../protocol/files.ts';
import { anyBytes, anyJson, mutated } from './any-json.ts';
import { anyText } from './any-text.ts';
import { type CostResult, fuzzCosts } from './costs.ts';

const entry = (fields: object) => ({
  id: 'a',
  timestamp: '2026-02-15T14:30:00Z',
  from: 'user',
  text: 'Run /startup',
  ...fields,
});
const recorded = [
  { messages: [] },
  { messages: [entry({ read: false }), entry({ id: 'b', read: true, attempt: 2 })] },
  {
    messages: [entry({ sent: true }), entry({ id: 'b', sent: false, files: ['a.txt'] }), { text: 'bare' }],
    version: 3,
  },
];
const text = anyText({
  ordinary: recorded.map((value) => JSON.stringify(value, null, 2)),
  units: [
    '{"text":"',
    '{"id":"a","text":"b"},',
    '{"messages":[',
    '"text":',
    '\\"',
    '\\u0000',
    '\\ud800',
    '"',
    '}',
    ']}',
    ':',
    ',',
    '\0',
    '\ufeff',
    '{}',
    '[]',
    '1,',
    'null,',
    '"timestamp":"2026',
  ],
  maxChars: 200_000,
});
const number = fc.nat({ max: 2_000 });
const anyValue = fc.oneof(
  { weight: 3, arbitrary: mutated(recorded) },
  { weight: 1, arbitrary: anyJson.map((messages) => ({ messages })) },
  // What is well-formed, with anything in its fields.
  {
    weight: 3,
    arbitrary: fc
      .array(text, { maxLength: 3 })
      .map((words) => ({ messages: words.map((each, at) => entry({ id: `${at}`, text: each })) })),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(text, number).map(([words, count]) => ({
      messages: Array.from({ length: count }, () => entry({ timestamp: words.slice(0, 200), attempt: 1 })),
    })),
  },
  {
    weight: 1,
    arbitrary: number.map((count) => ({ messages: Array.from({ length: count }, (_, at) => ({ text: `${at}` })) })),
  },
);

interface Written {
  kind: MailboxKind;
  bytes: Uint8Array;
}
const input: fc.Arbitrary<Written> = fc.record({
  kind: fc.constantFrom<MailboxKind>('inbox', 'outbox'),
  bytes: fc.oneof(
    { weight: 3, arbitrary: anyBytes(anyValue) },
    { weight: 2, arbitrary: text.map((each) => Buffer.from(each)) },
    { weight: 1, arbitrary: text.map((each) => Buffer.from(`{"messages":[${JSON.stringify(entry({}))},${each}`)) },
    { weight: 1, arbitrary: text.map((each) => Buffer.from(`\ufeff${each}`, 'utf16le')) },
  ),
});

export async function fuzzMailboxes(runs: number, seed: number): Promise<CostResult> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'wa-fuzz-')));
  // Old enough that nobody can be in the middle of writing it.
  const writtenAt = new Date(Date.now() - 60_000);

  async function work({ kind, bytes }: Written): Promise<string | undefined> {
    const path = join(dir, `wa_${kind}.json`);
    await writeFile(path, bytes, { mode: 0o600 });
    await utimes(path, writtenAt, writtenAt);
    const before = await readMailbox<Entry>(path, kind);
    const ours = {
      ...entry({ id: 'resp_of_the_fuzzer' }),
      [kind === 'inbox' ? 'read' : 'sent']: false,
    } as unknown as Entry;
    const options = { path, kind, now: Date.now, lockTimeoutMs: 60_000 };
    const { quarantined } = await updateMailboxFile<Entry>(options, (entries) => [...entries, ours]);
    const after = await readMailbox<Entry>(path, kind);
    if (after.state !== 'ok' || after.incomplete) return `what was written reads as ${after.state}`;
    const kept = new Set(after.entries.map(identityOf));
    if (!before.entries.every((each) => kept.has(identityOf(each)))) return 'an entry that was read is gone';
    if (!kept.has(identityOf(ours))) return 'the entry that was added is not there';
    if ((before.state === 'malformed') !== (quarantined !== undefined))
      return 'malformed content is kept aside, and only that';
    const again = await updateMailboxFile<Entry>(options, (entries) => entries);
    return again.changed ? 'an update that changes nothing writes' : undefined;
  }

  try {
    const charsOf = ({ bytes }: Written) => bytes.length;
    return await fuzzCosts({ input, charsOf, work, allowed: { ms: 100, msPerKb: 5, mb: 256 } }, runs, seed);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
