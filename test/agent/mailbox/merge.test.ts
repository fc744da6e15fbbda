import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  hasRoom,
  mergeByIdentity,
  mergeEntry,
  noteBytes,
  pruneSettled,
  selectWindow,
} from '../../../agent/mailbox/merge.ts';
import { identityOf, isoSeconds } from '../../../protocol/files.ts';
import { fileLimits } from '../../../protocol/limits.ts';
import { inboxEntry, outboxEntry } from './temporary.ts';

const now = Date.parse('2026-02-15T15:00:00Z');

describe('two versions of one entry', () => {
  test('the higher attempt wins whole, so a message proved lost is unread again', () => {
    const inFile = inboxEntry({ read: true, parked: true });
    expect(mergeEntry(inFile, inboxEntry({ attempt: 1 }), 'inbox')).toEqual(inboxEntry({ attempt: 1 }));
    expect(mergeEntry(inboxEntry({ attempt: 2 }), inboxEntry({ attempt: 1, read: true }), 'inbox')).toEqual(
      inboxEntry({ attempt: 2 }),
    );
  });

  test('at the same attempt the one that is read or sent wins', () => {
    expect(mergeEntry(inboxEntry(), inboxEntry({ read: true }), 'inbox')).toEqual(inboxEntry({ read: true }));
    expect(mergeEntry(inboxEntry({ read: true }), inboxEntry(), 'inbox')).toEqual(inboxEntry({ read: true }));
    expect(mergeEntry(outboxEntry(), outboxEntry({ sent: true, error: 'expired' }), 'outbox')).toEqual(
      outboxEntry({ sent: true, error: 'expired' }),
    );
  });

  test('fields that others added stay, those of the version that lost go', () => {
    const inFile = outboxEntry({ sent: true, error: 'expired', colour: 'red' });
    expect(mergeEntry(inFile, outboxEntry({ attempt: 1 }), 'outbox')).toEqual(
      outboxEntry({ attempt: 1, colour: 'red' }),
    );
  });
});

test('merging is by identity, keeps every identity once and in order, and does not depend on which copy comes first', () => {
  const anyEntry = fc.record({
    id: fc.constantFrom('a', 'b', 'c'),
    timestamp: fc.constantFrom('2026-02-15T14:30:00Z', '2026-02-15T14:31:00Z'),
    from: fc.constant('user'),
    text: fc.constantFrom('x', 'y'),
    read: fc.boolean(),
    attempt: fc.nat({ max: 2 }),
  });
  fc.assert(
    fc.property(fc.array(anyEntry, { maxLength: 20 }), (entries) => {
      const merged = mergeByIdentity(entries, 'inbox');
      expect(merged.map(identityOf)).toEqual([...new Set(entries.map(identityOf))]);
      expect(mergeByIdentity(merged, 'inbox')).toBe(merged);
      const reversed = mergeByIdentity([...entries].reverse(), 'inbox');
      const sorted = (list: typeof merged) => [...list].sort((a, b) => (identityOf(a) < identityOf(b) ? -1 : 1));
      expect(sorted(reversed)).toEqual(sorted(merged));
    }),
  );
});

describe('pruning', () => {
  const at = (ageMs: number) => isoSeconds(now - ageMs);

  test('read and sent entries older than the kept time go, younger ones and unread ones stay', () => {
    const young = inboxEntry({ id: 'young', read: true, timestamp: at(fileLimits.settledKeptMs - 1_000) });
    const old = inboxEntry({ id: 'old', read: true, timestamp: at(fileLimits.settledKeptMs) });
    const unread = inboxEntry({ id: 'unread', timestamp: at(90 * 24 * 3_600_000) });
    expect(pruneSettled([young, old, unread], 'inbox', now)).toEqual([young, unread]);
    const sent = outboxEntry({ id: 'sent', sent: true, timestamp: at(fileLimits.settledKeptMs) });
    const unsent = outboxEntry({ id: 'unsent', timestamp: at(fileLimits.settledKeptMs) });
    const failed = outboxEntry({ id: 'failed', sent: true, error: 'expired', timestamp: at(1_000) });
    expect(pruneSettled([sent, unsent, failed], 'outbox', now)).toEqual([unsent, failed]);
  });

  test('above the limit of bytes the oldest read ones go, but never the only entry', () => {
    const large = (id: string, read: boolean) =>
      inboxEntry({ id, read, text: 'x'.repeat(9_000), timestamp: at(1_000) });
    const read = Array.from({ length: 4 }, (_, index) => large(`r${index}`, true));
    expect(pruneSettled([...read, large('u', false)], 'inbox', now)).toEqual([...read, large('u', false)]);
    const more = [large('u', false), ...read, large('v', false)];
    expect(pruneSettled(more, 'inbox', now)).toEqual(more.filter(({ id }) => id !== 'r0'));
    const huge = { ...large('huge', true), text: 'x'.repeat(2 * fileLimits.windowBytes) };
    expect(pruneSettled([huge], 'inbox', now)).toEqual([huge]);
  });

  test('above the limit of entries all read ones go', () => {
    const unread = Array.from({ length: fileLimits.entries }, (_, index) => inboxEntry({ id: `u${index}` }));
    const read = inboxEntry({ id: 'r', read: true, timestamp: at(1_000) });
    expect(pruneSettled([read, ...unread.slice(1)], 'inbox', now)).toEqual([read, ...unread.slice(1)]);
    expect(pruneSettled([read, ...unread], 'inbox', now)).toEqual(unread);
  });

  test('an unread or unsent entry never goes, however many there are', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 260 }), fc.nat({ max: 7_200_000 }), (flags, ageMs) => {
        const entries = flags.map((read, index) => inboxEntry({ id: `${index}`, read, timestamp: at(ageMs) }));
        const kept = pruneSettled(entries, 'inbox', now);
        expect(kept.filter((entry) => !entry.read)).toEqual(entries.filter((entry) => !entry.read));
        expect(kept.length <= fileLimits.entries || kept.every((entry) => !entry.read)).toBe(true);
      }),
    );
  });
});

describe('the room for one more in the outbox', () => {
  const unsent = (count: number, text = 'x') =>
    Array.from({ length: count }, (_, id) => outboxEntry({ id: `${id}`, text }));
  const next = outboxEntry({ id: 'next', text: 'x'.repeat(500) });

  test('ends at the limit of unsent entries or bytes; the first entry always fits', () => {
    const { entries } = fileLimits;
    expect([hasRoom(unsent(entries - 1), next), hasRoom(unsent(entries), next)]).toEqual([true, false]);
    const sent = unsent(entries).map((entry) => ({ ...entry, sent: true }));
    expect(hasRoom([...sent, ...unsent(3)], next)).toBe(true);
    expect([hasRoom(unsent(5, 'x'.repeat(10_000)), next), hasRoom(unsent(4, 'x'.repeat(10_000)), next)]).toEqual([
      false,
      true,
    ]);
    expect(hasRoom([], outboxEntry({ text: 'x'.repeat(2 * fileLimits.windowBytes) }))).toBe(true);
  });
});

describe('the window', () => {
  const bytesOf = (entries: object[]) => Buffer.byteLength(`${JSON.stringify({ messages: entries }, null, 2)}\n`);
  const waiting = Array.from({ length: 150 }, (_, index) => inboxEntry({ id: `m${index}` }));

  test('takes the oldest up to the number of entries', () => {
    expect(selectWindow(waiting)).toEqual(waiting.slice(0, fileLimits.entries));
  });

  test('takes the oldest as long as the file stays within its bytes, with room for the notes of a hand-over', () => {
    const medium = waiting.map((entry) => ({ ...entry, text: 'é'.repeat(300) }));
    const window = selectWindow(medium);
    expect(window).toEqual(medium.slice(0, window.length));
    expect(bytesOf(window)).toBeLessThanOrEqual(fileLimits.windowBytes - noteBytes);
    expect(bytesOf(medium.slice(0, window.length + 1))).toBeGreaterThan(fileLimits.windowBytes - noteBytes - 64);
  });

  test('leaves room for the entries of other programs', () => {
    const theirs = inboxEntry({ id: 'theirs', text: 'x'.repeat(fileLimits.windowBytes / 2) });
    const large = waiting.map((entry) => ({ ...entry, text: 'x'.repeat(10_000) }));
    expect(selectWindow(waiting, waiting.slice(0, 60))).toEqual(waiting.slice(0, 40));
    expect(selectWindow(large, [theirs])).toEqual(large.slice(0, 1));
  });

  test('takes at least one entry, however large, and nothing from an empty list', () => {
    const large = inboxEntry({ text: 'x'.repeat(fileLimits.windowBytes) });
    expect(selectWindow([large, large])).toEqual([large]);
    expect(selectWindow(waiting, waiting)).toEqual(waiting.slice(0, 1));
    expect(selectWindow([])).toEqual([]);
  });
});
