// Which entries of a rewritten outbox file are those that stood there before.

import { describe, expect, it } from 'vitest';
import { parseMailbox } from '../../../agent/mailbox/mailbox-json.ts';
import { recogniseRewritten } from '../../../agent/relay/rewritten.ts';
import type { OutboxEntry } from '../../../protocol/files.ts';

const now = Date.parse('2026-02-15T14:30:00Z');

/** As the daemon reads what another program wrote at `at`. */
function readAt(at: number, ...messages: object[]): OutboxEntry[] {
  return parseMailbox(Buffer.from(JSON.stringify({ messages })), 'outbox', at).entries as OutboxEntry[];
}

const said = (text: string, fields: object = {}) => ({ text, sent: false, ...fields });
const stood = (...messages: object[]) => ({ at: now, entries: readAt(now - 10, ...messages) });

describe('an entry that is written back without an id beside a new one', () => {
  it('is the one that was missing, with its id, its time and what became of it', () => {
    const last = stood(said('one'));
    const sent = { ...last, entries: last.entries.map((entry) => ({ ...entry, sent: true })) };
    const read = readAt(now + 2_000, said('one'), said('two'));
    expect(recogniseRewritten(read, sent, now + 2_000)).toEqual([...sent.entries, read[1]]);
  });

  it('is the one that was missing when it has an id and no time', () => {
    const last = stood(said('one', { id: 'mine' }));
    const read = readAt(now + 2_000, said('one', { id: 'mine' }), said('two'));
    expect(recogniseRewritten(read, last, now + 2_000)).toEqual([...last.entries, read[1]]);
  });

  it('is each of equal ones once', () => {
    const last = stood(said('again'), said('again'));
    const read = readAt(now + 50, said('again'), said('again'), said('again'));
    expect(recogniseRewritten(read, last, now + 50)).toEqual([...last.entries, read[2]]);
  });
});

describe('an entry with words that stood there before', () => {
  const last = stood(said('one'));
  it.each<[string, number, OutboxEntry[]]>([
    ['replaces the whole file', now + 50, readAt(now + 50, said('one'))],
    ['comes later than a rewrite takes', now + 5_001, readAt(now + 5_001, said('one'), said('two'))],
    ['stands beside the first', now + 50, [...last.entries, ...readAt(now + 50, said('one'))]],
    ['has an id of its own', now + 50, readAt(now + 50, said('one', { id: 'mine' }), said('two'))],
  ])('is another one when it %s', (_, at, read) => {
    expect(recogniseRewritten(read, last, at)).toBe(read);
  });

  it('is another one when its own time differs', () => {
    const timed = (timestamp: string) => said('one', { id: 'mine', timestamp });
    const read = readAt(now + 3_000, timed('2026-02-15T14:30:02Z'), said('two'));
    expect(recogniseRewritten(read, stood(timed('2026-02-15T14:30:00Z')), now + 3_000)).toBe(read);
  });
});
