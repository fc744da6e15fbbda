import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseMailbox, serialiseMailbox } from '../../../agent/mailbox/mailbox-json.ts';
import type { Entry } from '../../../agent/mailbox/merge.ts';
import { identityOf } from '../../../protocol/files.ts';
import { inboxEntry, outboxEntry } from './temporary.ts';

const modifiedAtMs = Date.parse('2026-02-15T15:00:00.250Z');
const parse = (text: string | Uint8Array, kind: 'inbox' | 'outbox' = 'inbox') =>
  parseMailbox(Buffer.from(text as string), kind, modifiedAtMs);
const nothingElse = { elements: [], fields: {} };

describe('a well-formed mailbox', () => {
  test('is two-space JSON that reads back as what was written', () => {
    const text = serialiseMailbox([inboxEntry()], nothingElse);
    expect(text).toBe(
      `${JSON.stringify({ messages: [{ id: 'msg_e1_0_1', timestamp: '2026-02-15T14:30:00Z', from: 'user', text: 'Run /startup', read: false }] }, null, 2)}\n`,
    );
    expect(parse(text)).toEqual({ state: 'ok', entries: [inboxEntry()], incomplete: false, rest: nothingElse });
  });

  test('may begin with a byte order mark', () => {
    expect(parse(`\uFEFF${serialiseMailbox([inboxEntry()], nothingElse)}`)).toEqual({
      state: 'ok',
      entries: [inboxEntry()],
      incomplete: false,
      rest: nothingElse,
    });
  });

  test('keeps unknown fields of entries and of the file, and elements that are not entries, at the end', () => {
    const odd = [null, 7, 'text', [inboxEntry()], { id: 'x', text: 9 }];
    const stranger = inboxEntry({ colour: { nested: ['red'] } });
    const { entries, rest } = parse(JSON.stringify({ version: 3, messages: [odd[0], stranger, ...odd.slice(1)] }));
    expect(JSON.parse(serialiseMailbox(entries, rest))).toEqual({ version: 3, messages: [stranger, ...odd] });
  });

  test.each(['', ' \n', '\uFEFF', '\uFEFF\n'])('is empty when it holds nothing but white space: %j', (text) => {
    expect(parse(text)).toEqual({ state: 'empty', entries: [], incomplete: false, rest: nothingElse });
  });

  test('holds one entry per identity: two versions of one merge, equal ids with another text do not', () => {
    const other = inboxEntry({ text: 'Run /shutdown' });
    const messages = [inboxEntry({ note: 'kept' }), other, inboxEntry({ read: true })];
    expect(parse(JSON.stringify({ messages }))).toEqual({
      state: 'ok',
      entries: [inboxEntry({ note: 'kept', read: true }), other],
      incomplete: true,
      rest: nothingElse,
    });
  });
});

describe('an entry that lacks fields', () => {
  test('is completed from the time of the file, and every reader of that file makes the same id', () => {
    const text = JSON.stringify({ messages: [{ text: 'hello' }, { text: 'hello' }] });
    const first = parse(text);
    const [one, two] = first.entries as Entry[];
    expect(first).toEqual({
      state: 'ok',
      entries: [one, two].map((entry) => ({
        id: entry?.id,
        timestamp: '2026-02-15T15:00:00Z',
        from: 'user',
        text: 'hello',
        read: false,
      })),
      incomplete: true,
      rest: nothingElse,
    });
    expect(one?.id).toMatch(/^in_[0-9a-f]{16}$/);
    expect(one?.id).not.toBe(two?.id);
    expect(parse(text)).toEqual(first);
  });

  test('gets another id when the same words are written at another time', () => {
    const bytes = Buffer.from(JSON.stringify({ messages: [{ text: 'continue' }] }));
    const ids = [1, 2].map((later) => parseMailbox(bytes, 'inbox', modifiedAtMs + later).entries[0]?.id);
    expect(new Set(ids).size).toBe(2);
  });

  test('is complete once written', () => {
    const { entries, rest } = parse(JSON.stringify({ messages: [{ text: 'hello' }] }));
    expect(parse(serialiseMailbox(entries, rest))).toEqual({ state: 'ok', entries, incomplete: false, rest });
  });

  test('is unread or unsent without a flag, or with a flag of another type', () => {
    const { read: _read, ...unflagged } = inboxEntry();
    const { sent: _sent, ...unsent } = outboxEntry();
    expect(parse(JSON.stringify({ messages: [unflagged, { ...unflagged, id: 'b', read: 'no' }] })).entries).toEqual([
      inboxEntry(),
      inboxEntry({ id: 'b' }),
    ]);
    expect(parse(JSON.stringify({ messages: [unsent] }), 'outbox').entries).toEqual([outboxEntry()]);
  });

  test('keeps a numeric id as text', () => {
    expect(parse(JSON.stringify({ messages: [{ ...inboxEntry(), id: 42 }] })).entries).toEqual([
      inboxEntry({ id: '42' }),
    ]);
  });
});

describe('a timestamp', () => {
  test.each([
    '2026-02-15T14:30:00Z',
    '2026-02-15T14:30:00.123456Z',
    '2026-02-15T15:30:00+01:00',
    '2026-02-15T15:30:00+0100',
    '2026-02-15 14:30:00',
    '2026-02-15T14:30Z',
    '2026-02-15',
  ])('stays as it was written: %s', (timestamp) => {
    expect(parse(JSON.stringify({ messages: [inboxEntry({ timestamp })] }))).toEqual({
      state: 'ok',
      entries: [inboxEntry({ timestamp })],
      incomplete: false,
      rest: nothingElse,
    });
  });

  test.each([
    ['20260215T143000Z', '2026-02-15T14:30:00Z'],
    ['20260215T153000+0100', '2026-02-15T14:30:00Z'],
    ['2026-02-15T14:30:00,123456789+00:00', '2026-02-15T14:30:00Z'],
    ['2026-02-15T15:30:00+01', '2026-02-15T14:30:00Z'],
    ['yesterday', '2026-02-15T15:00:00Z'],
    ['', '2026-02-15T15:00:00Z'],
  ])('%j becomes %s', (timestamp, expected) => {
    expect(parse(JSON.stringify({ messages: [inboxEntry({ timestamp })] })).entries).toEqual([
      inboxEntry({ timestamp: expected }),
    ]);
  });
});

describe('a malformed mailbox', () => {
  const entries = [
    inboxEntry({ text: 'brackets } ] and "quotes" \\ in it' }),
    inboxEntry({ id: 'b', text: 'two\nlines {', quote: { text: 'nested' } }),
    inboxEntry({ id: 'c', text: 'Grüße 👋' }),
  ];
  const whole = serialiseMailbox(entries, nothingElse);

  test.each([
    ['two documents in one', whole + whole],
    ['a trailing comma', whole.replace(/\}\s*\]\s*\}\s*$/, '},]}')],
    ['NULs behind it', `${whole}\0\0\0\0`],
    ['text before it', `oops\n${whole}`],
    ['a bare array', JSON.stringify(entries)],
    ['another key', JSON.stringify({ items: entries })],
    ['entries on lines of their own', entries.map((entry) => JSON.stringify(entry)).join('\n')],
    ['a torn entry before it', `{"messages":[{"id":"x","text":"hel${JSON.stringify({ messages: entries })}`],
  ])('gives back its entries: %s', (_name, text) => {
    const parsed = parse(text);
    expect([parsed.state, parsed.entries, parsed.rest]).toEqual(['malformed', entries, nothingElse]);
  });

  test('takes no entry from inside another one that is torn', () => {
    const torn = JSON.stringify(inboxEntry({ quote: { text: 'earlier words' } })).slice(0, -1);
    expect(parse(`{"messages":[${torn}`).entries).toEqual([]);
  });

  test('gives back its entries from UTF-16', () => {
    const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(whole, 'utf16le')]);
    expect(parse(utf16)).toEqual({ state: 'malformed', entries, incomplete: false, rest: nothingElse });
  });

  test('may consist of bytes that UTF-8 does not allow', () => {
    const latin1 = Buffer.from(JSON.stringify({ messages: [inboxEntry({ text: 'Grüße' })] }), 'latin1');
    expect(parse(latin1)).toEqual({
      state: 'malformed',
      entries: [inboxEntry({ text: 'Gr\uFFFD\uFFFDe' })],
      incomplete: false,
      rest: nothingElse,
    });
  });

  test('gives back its entries from behind many objects of another form', () => {
    const others = '{no JSON}{"id":7},'.repeat(2_000);
    expect(parse(`{"messages":[${others}${JSON.stringify(entries)}`).entries).toEqual(entries);
  });

  test('cut at every byte gives back each entry that stands whole before the cut', () => {
    const bytes = Buffer.from(whole);
    const ends = entries.map((entry) => {
      const text = JSON.stringify(entry, null, 2).replaceAll('\n', '\n    ');
      return Buffer.byteLength(whole.slice(0, whole.indexOf(text) + text.length));
    });
    for (let cut = 1; cut < bytes.length - 2; cut += 1) {
      const expected = entries.filter((_entry, index) => (ends[index] ?? 0) <= cut);
      const parsed = parse(bytes.subarray(0, cut));
      expect([cut, parsed.state, parsed.entries]).toEqual([cut, 'malformed', expected]);
    }
  });

  test.each([
    ['braces without end', '{'.repeat(200_000)],
    ['objects without end', '{"a":'.repeat(200_000)],
    ['siblings in objects without end', `${'{"m":['.repeat(40)}${'{"a":1},'.repeat(50_000)}`],
    ['balanced braces without JSON', '{{{{{}}}}}'.repeat(200_000)],
    ['a string without end', `{"text":"${'\\"'.repeat(200_000)}`],
  ])('cannot stall the reader: %s', (_name, text) => {
    expect(parse(text)).toEqual({ state: 'malformed', entries: [], incomplete: false, rest: nothingElse });
  });
});

const anyEntry = fc.record(
  {
    id: fc.string({ minLength: 1 }),
    timestamp: fc.constantFrom('2026-02-15T14:30:00Z', '2026-02-15T14:31:00Z'),
    from: fc.string(),
    text: fc.string({ unit: 'binary' }),
    read: fc.boolean(),
    attempt: fc.nat({ max: 3 }),
    extra: fc.jsonValue({ maxDepth: 2 }),
  },
  { requiredKeys: ['id', 'timestamp', 'from', 'text', 'read'] },
);

describe('whatever is written', () => {
  const asWritten = (value: unknown) => JSON.parse(JSON.stringify(value));

  test('reads back the same', () => {
    const distinct = fc.uniqueArray(anyEntry, { selector: identityOf });
    fc.assert(
      fc.property(distinct, fc.array(fc.integer()), (messages, elements) => {
        const text = serialiseMailbox(messages, { elements, fields: { other: true } });
        expect(parse(text)).toEqual({
          state: 'ok',
          entries: asWritten(messages),
          incomplete: false,
          rest: { elements, fields: { other: true } },
        });
      }),
    );
  });

  test('is read without an exception, and its second reading finds nothing left to complete', () => {
    const anyElement = fc.oneof(anyEntry, fc.jsonValue(), fc.record({ text: fc.string() }));
    fc.assert(
      fc.property(fc.array(anyElement), fc.constantFrom('inbox' as const, 'outbox' as const), (messages, kind) => {
        const first = parse(JSON.stringify({ messages }), kind);
        const second = parse(serialiseMailbox(first.entries, first.rest), kind);
        expect(second).toEqual({ ...asWritten(first), incomplete: false });
      }),
    );
  });

  test('any bytes are read without an exception', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.array(anyEntry), fc.nat(), (noise, messages, at) => {
        const bytes = Buffer.from(serialiseMailbox(messages, nothingElse));
        const cut = at % bytes.length;
        const torn = Buffer.concat([bytes.subarray(0, cut), noise, bytes.subarray(cut)]);
        expect(['ok', 'malformed']).toContain(parse(torn).state);
        expect(['ok', 'empty', 'malformed']).toContain(parse(noise).state);
      }),
    );
  });
});

describe('an entry with a field that nests deeper than the limit', () => {
  const depth = 20_000;
  const deep = {
    arrays: `${'['.repeat(depth)}${']'.repeat(depth)}`,
    objects: `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
  };

  test.each(Object.entries(deep))(
    'of %s makes the file malformed, and the entries before and after the field are salvaged',
    (_, field) => {
      const [first, last] = [inboxEntry(), inboxEntry({ text: 'behind it' })];
      const odd = JSON.stringify(inboxEntry({ text: 'deep', field: '' })).replace('"field":""', `"field":${field}`);
      const text = `{"messages":[${JSON.stringify(first)},${odd},${JSON.stringify(last)}]}`;
      const { state, entries, rest } = parse(text);
      expect({ state, entries }).toEqual({ state: 'malformed', entries: [first, last] });
      // What was read can be written.
      expect(parse(serialiseMailbox(entries, rest)).entries).toEqual([first, last]);
    },
  );

  test('is not confused with brackets in a text', () => {
    const entry = inboxEntry({ text: '[{"\\'.repeat(depth) });
    expect(parse(JSON.stringify({ messages: [entry] }))).toMatchObject({ state: 'ok', entries: [entry] });
  });
});
