import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { newOwner, placeLock } from '../../../agent/fs/lock.ts';
import { type Entry, pruneSettled } from '../../../agent/mailbox/merge.ts';
import { type FileState, readMailbox, updateMailboxFile } from '../../../agent/mailbox/update.ts';
import type { InboxEntry } from '../../../protocol/files.ts';
import { fileLimits } from '../../../protocol/limits.ts';
import { inboxEntry, temporaryFolders } from './temporary.ts';

const folder = temporaryFolders();
const target = () => join(folder(), 'wa_inbox.json');
const now = () => Date.parse('2026-02-15T15:00:00.250Z');
const optionsOf = (path: string) => ({ path, kind: 'inbox' as const, now, lockTimeoutMs: 60_000 });
const filesBeside = (path: string) => readdirSync(join(path, '..')).sort();
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
const entriesIn = (path: string) => JSON.parse(readFileSync(path, 'utf8')).messages;

/** As a program that does not know wa-sync: another name, then `mv`. */
function foreignWrite(path: string, messages: readonly object[], mode = 0o644): void {
  writeFileSync(`${path}.tmp`, JSON.stringify({ messages }), { mode });
  renameSync(`${path}.tmp`, path);
}

/** Old enough that no program can be in the middle of writing it. */
function leave(path: string, content: string | Uint8Array): void {
  writeFileSync(path, content, { mode: 0o644 });
  const before = Date.now() / 1000 - 60;
  utimesSync(path, before, before);
}

const append = (entry: InboxEntry) => (entries: readonly Entry[]) => [...(entries as InboxEntry[]), entry];
const first = inboxEntry();
const second = inboxEntry({ id: 'msg_e1_0_2', text: 'Run the tests' });

describe('an update', () => {
  test('creates the file with mode 600 and two-space JSON, and leaves neither a lock nor another file', async () => {
    const path = target();
    const result = await updateMailboxFile(optionsOf(path), append(first));
    expect(result).toEqual({
      entries: [first],
      bytes: readFileSync(path),
      changed: true,
      quarantined: undefined,
    });
    expect(readFileSync(path, 'utf8')).toBe(`${JSON.stringify({ messages: [first] }, null, 2)}\n`);
    expect([modeOf(path), filesBeside(path)]).toEqual(['600', ['wa_inbox.json']]);
  });

  test.each([
    ['missing', undefined, 'missing'],
    ['empty', '', 'empty'],
    ['well-formed', JSON.stringify({ messages: [] }), 'ok'],
    ['malformed', '{"messages":[', 'malformed'],
  ])('gets the state of the file: %s', async (_name, content, expected) => {
    const path = target();
    if (content !== undefined) leave(path, content);
    const states: FileState[] = [];
    await updateMailboxFile(optionsOf(path), (entries, state) => {
      states.push(state);
      return entries;
    });
    expect(states).toEqual([expected]);
  });

  test.each([
    ['missing', undefined],
    ['empty', ' \n'],
    ['written compactly by another program', JSON.stringify({ other: 1, messages: [first] })],
  ])('that changes nothing writes nothing: %s', async (_name, content) => {
    const path = target();
    if (content !== undefined) leave(path, content);
    const inode = content === undefined ? undefined : statSync(path).ino;
    const result = await updateMailboxFile(optionsOf(path), (entries) => entries.map((entry) => ({ ...entry })));
    expect(result.changed).toBe(false);
    expect(existsSync(path) ? [readFileSync(path, 'utf8'), statSync(path).ino] : [undefined, undefined]).toEqual([
      content,
      inode,
    ]);
  });

  test('restores mode 600 after a foreign write, also when it changes nothing', async () => {
    const path = target();
    foreignWrite(path, [first]);
    await updateMailboxFile(optionsOf(path), (entries) => entries);
    expect(modeOf(path)).toBe('600');
    foreignWrite(path, [first]);
    await updateMailboxFile(optionsOf(path), append(second));
    expect(modeOf(path)).toBe('600');
  });

  test('keeps unknown fields of entries and file, and writes no byte order mark', async () => {
    const path = target();
    const stranger = { ...first, colour: 'red' };
    leave(path, `\uFEFF${JSON.stringify({ version: 7, messages: [stranger, 'noise'] })}`);
    await updateMailboxFile(optionsOf(path), append(second));
    expect(readFileSync(path, 'utf8')).toBe(
      `${JSON.stringify({ version: 7, messages: [stranger, second, 'noise'] }, null, 2)}\n`,
    );
  });

  test('writes the completed fields that a reader saw before', async () => {
    const path = target();
    leave(path, JSON.stringify({ messages: [{ text: 'hello' }] }));
    const seen = await readMailbox(path, 'inbox');
    expect(seen.incomplete).toBe(true);
    const { entries, changed } = await updateMailboxFile(optionsOf(path), (each) => each);
    expect({ entries, changed }).toEqual({ entries: seen.entries, changed: true });
    expect(await readMailbox(path, 'inbox')).toEqual({
      state: 'ok',
      entries,
      incomplete: false,
      exposed: false,
      modifiedAtMs: statSync(path).mtimeMs,
    });
  });

  test('that fails in mutate leaves the file and no lock', async () => {
    const path = target();
    leave(path, JSON.stringify({ messages: [first] }));
    const failing = updateMailboxFile(optionsOf(path), () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect([entriesIn(path), filesBeside(path)]).toEqual([[first], ['wa_inbox.json']]);
  });

  test('of a file locked by another process is a lock_timeout, and the file is as it was', async () => {
    const path = target();
    leave(path, JSON.stringify({ messages: [first] }));

    await placeLock(`${path}.lock`, newOwner());
    await expect(updateMailboxFile({ ...optionsOf(path), lockTimeoutMs: 20 }, append(second))).rejects.toMatchObject({
      code: 'lock_timeout',
    });
    expect(entriesIn(path)).toEqual([first]);
  });

  test('keeps at most the limit of entries, but every unread one', async () => {
    const path = target();
    const unread = Array.from({ length: fileLimits.entries + 20 }, (_, index) => inboxEntry({ id: `u${index}` }));
    const read = inboxEntry({ id: 'r', read: true, timestamp: '2026-02-15T14:59:00Z' });
    leave(path, JSON.stringify({ messages: [read, ...unread] }));
    const { entries } = await updateMailboxFile(optionsOf(path), (each) => pruneSettled(each, 'inbox', now()));
    expect([entries, entriesIn(path)]).toEqual([unread, unread]);
  });

  test('that would make the file larger than the limit for reading is refused', async () => {
    const path = target();
    const huge = inboxEntry({ text: 'x'.repeat(fileLimits.fileBytes) });
    await expect(updateMailboxFile(optionsOf(path), append(huge))).rejects.toMatchObject({ code: 'file_unusable' });
    expect(filesBeside(path)).toEqual([]);
  });
});

describe('malformed content', () => {
  const asideOf = (ms: number) => `wa_inbox.json.corrupt-2026-02-15T15-00-00-${ms}Z`;
  const asideName = asideOf(250);

  test('is kept aside byte by byte with mode 600, and its entries are in the new file', async () => {
    const path = target();
    const torn = `${JSON.stringify({ messages: [first, second] })}{"messages":[{"id":"x","te`;
    leave(path, torn);
    const third = inboxEntry({ id: 'msg_e1_0_3' });
    const aside = join(path, '..', asideName);
    const result = await updateMailboxFile(optionsOf(path), append(third));
    expect(result).toEqual({
      entries: [first, second, third],
      bytes: readFileSync(path),
      changed: true,
      quarantined: { path: aside, salvaged: 2 },
    });
    expect([readFileSync(aside, 'utf8'), modeOf(aside)]).toEqual([torn, '600']);
    expect([entriesIn(path), filesBeside(path)]).toEqual([
      [first, second, third],
      ['wa_inbox.json', asideName],
    ]);
  });

  test('never overwrites an earlier copy', async () => {
    const path = target();
    for (const content of ['one', 'two', 'three']) {
      leave(path, content);
      await updateMailboxFile(optionsOf(path), (entries) => entries);
    }
    const beside = filesBeside(path).filter((name) => name !== 'wa_inbox.json');
    expect(beside.map((name) => [name, readFileSync(join(path, '..', name), 'utf8')])).toEqual([
      [asideName, 'one'],
      [asideOf(251), 'two'],
      [asideOf(252), 'three'],
    ]);
  });

  test('leaves at most the five newest copies of each file, and no other file with such a name is removed', async () => {
    const path = target();
    const at = (second: number) => `wa_inbox.json.corrupt-2026-02-15T14-59-0${second}-000Z`;
    const others = ['wa_inbox.json.corrupt-notes', 'wa_outbox.json.corrupt-2020-01-01T00-00-00-000Z'];
    for (const name of [...[1, 2, 3, 4, 5, 6].map(at), ...others]) writeFileSync(join(path, '..', name), name);
    mkdirSync(join(path, '..', 'wa_inbox.json.corrupt-2020-01-01T00-00-00-000Z'));
    symlinkSync(path, join(path, '..', 'wa_inbox.json.corrupt-2020-01-01T00-00-01-000Z'));
    const before = filesBeside(path);
    for (const content of ['one', 'two']) {
      leave(path, content);
      await updateMailboxFile(optionsOf(path), (entries) => entries);
    }
    const gone = [1, 2, 3].map(at);
    const kept = [...before.filter((name) => !gone.includes(name)), 'wa_inbox.json', asideName, asideOf(251)];
    expect(filesBeside(path)).toEqual(kept.sort());
  });

  test('keeps its newest copy, even if the names of other files claim a time in the future', async () => {
    const path = target();
    const planted = [1, 2, 3, 4, 5].map((second) => `wa_inbox.json.corrupt-9999-01-01T00-00-0${second}-000Z`);
    for (const name of planted) writeFileSync(join(path, '..', name), '');
    leave(path, 'one');
    await updateMailboxFile(optionsOf(path), (entries) => entries);
    expect(filesBeside(path)).toEqual(['wa_inbox.json', asideName, ...planted.slice(1)]);
  });

  test('is assumed of a file above the size limit, without reading the file', async () => {
    const path = target();
    leave(path, Buffer.alloc(fileLimits.fileBytes + 1, ' '));
    const { quarantined } = await updateMailboxFile(optionsOf(path), append(first));
    expect(quarantined).toEqual({ path: join(path, '..', asideName), salvaged: 0 });
    expect([entriesIn(path), statSync(join(path, '..', asideName)).size]).toEqual([[first], fileLimits.fileBytes + 1]);
  });
});

describe('a path without an ordinary file', () => {
  const makers: [string, (path: string) => void][] = [
    [
      'a link to another file',
      (path) => {
        writeFileSync(join(path, '..', 'elsewhere'), '{"messages":[]}');
        symlinkSync('elsewhere', path);
      },
    ],
    ['a link to nowhere', (path) => symlinkSync('nowhere', path)],
    ['a folder', (path) => mkdirSync(path)],
    ['a pipe', (path) => spawnSync('sh', ['-c', 'mkfifo "$0"', path])],
  ];

  test.skipIf(process.platform === 'win32').each(makers)(
    '%s is file_unusable, for a reader and for an update',
    async (_name, make) => {
      const path = target();
      make(path);
      const before = filesBeside(path);
      await expect(readMailbox(path, 'inbox')).rejects.toMatchObject({ code: 'file_unusable' });
      await expect(updateMailboxFile(optionsOf(path), append(first))).rejects.toMatchObject({ code: 'file_unusable' });
      expect(filesBeside(path)).toEqual(before);
    },
  );

  test.skipIf(process.getuid?.() === 0)(
    'a file without the right to read it is file_unusable (not as root)',
    async () => {
      const path = target();
      leave(path, '{"messages":[]}');
      chmodSync(path, 0);
      await expect(readMailbox(path, 'inbox')).rejects.toMatchObject({ code: 'file_unusable' });
    },
  );
});

test('a reader without the lock learns the state of the file', async () => {
  const path = target();
  expect(await readMailbox(path, 'inbox')).toEqual({
    state: 'missing',
    entries: [],
    incomplete: false,
    exposed: false,
    modifiedAtMs: 0,
  });
  leave(path, '');
  expect(await readMailbox(path, 'inbox')).toEqual({
    state: 'empty',
    entries: [],
    incomplete: false,
    exposed: true,
    modifiedAtMs: statSync(path).mtimeMs,
  });
  leave(path, `[${JSON.stringify(first)},`);
  expect(await readMailbox(path, 'inbox')).toEqual({
    state: 'malformed',
    entries: [first],
    incomplete: false,
    exposed: true,
    modifiedAtMs: statSync(path).mtimeMs,
  });
});
