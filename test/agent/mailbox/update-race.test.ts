import { readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type FileState, updateMailboxFile } from '../../../agent/mailbox/update.ts';
import type { InboxEntry } from '../../../protocol/files.ts';
import { inboxEntry, temporaryFolders } from './temporary.ts';

// What an update does while another program writes; the other promises of an update are in update.test.ts.

const newFolder = temporaryFolders();
const now = Date.parse('2026-02-15T15:00:00.250Z');
const asideName = 'wa_inbox.json.corrupt-2026-02-15T15-00-00-250Z';

const ours = inboxEntry({ id: 'ours' });
const theirs = inboxEntry({ id: 'theirs', from: 'script' });
const salvageable = inboxEntry({ id: 'salvageable', note: 'of another program' });
const torn = `{"messages":[${JSON.stringify(salvageable)},{"id":"torn","te`;

/** Another program acts between the read and the rename: the mutation is where a test can be that program. */
async function updateWhile(path: string, act: (round: number) => void) {
  const seen: { state: FileState; ids: string[] }[] = [];
  const result = await updateMailboxFile<InboxEntry>({ path, kind: 'inbox', now: () => now }, (entries, state) => {
    seen.push({ state, ids: entries.map((entry) => entry.id) });
    act(seen.length);
    return [...entries, ours];
  });
  return { result, seen };
}

function writeSettled(path: string, text: string): void {
  writeFileSync(path, text);
  // Older than what a half-done write in place may be.
  utimesSync(path, new Date(now), new Date(now));
}

function replaceByRename(path: string, text: string): void {
  writeFileSync(`${path}.tmp`, text);
  renameSync(`${path}.tmp`, path);
}

const mailbox = (...messages: unknown[]) => JSON.stringify({ messages });
const idsIn = (path: string) => JSON.parse(readFileSync(path, 'utf8')).messages.map((entry: InboxEntry) => entry.id);

test('a file that another program creates during the first write is not overwritten', async () => {
  const path = join(newFolder(), 'wa_inbox.json');
  const { seen } = await updateWhile(path, (round) => {
    if (round === 1) replaceByRename(path, mailbox(theirs));
  });
  expect(seen).toEqual([
    { state: 'missing', ids: [] },
    { state: 'ok', ids: ['theirs'] },
  ]);
  expect(idsIn(path)).toEqual(['theirs', 'ours']);
});

describe('another program replaces malformed content while wa-sync copies the content aside', () => {
  test('the salvaged entries go into the new file, and the malformed bytes are kept', async () => {
    const dir = newFolder();
    const path = join(dir, 'wa_inbox.json');
    writeSettled(path, torn);
    const { result, seen } = await updateWhile(path, (round) => {
      if (round === 1) replaceByRename(path, mailbox(theirs));
    });
    expect(seen).toEqual([
      { state: 'malformed', ids: ['salvageable'] },
      { state: 'malformed', ids: ['theirs', 'salvageable'] },
    ]);
    const aside = join(dir, asideName);
    expect(result).toEqual({
      entries: [theirs, salvageable, ours],
      bytes: readFileSync(path),
      changed: true,
      quarantined: { path: aside, salvaged: 1 },
    });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ messages: [theirs, salvageable, ours] });
    expect(readFileSync(aside, 'utf8')).toBe(torn);
    expect(statSync(aside).mode & 0o777).toBe(0o600);
    expect(readdirSync(dir).sort()).toEqual(['wa_inbox.json', asideName].sort());
  });

  test('the newer version of an entry in both files wins', async () => {
    const path = join(newFolder(), 'wa_inbox.json');
    writeSettled(path, torn);
    await updateWhile(path, (round) => {
      if (round === 1) replaceByRename(path, mailbox({ ...salvageable, read: true }));
    });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ messages: [{ ...salvageable, read: true }, ours] });
  });

  test('an entry that was read stays read, even if the new file says unread', async () => {
    const path = join(newFolder(), 'wa_inbox.json');
    writeSettled(path, torn.replace('"read":false', '"read":true'));
    await updateWhile(path, (round) => {
      if (round === 1) replaceByRename(path, mailbox(salvageable));
    });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ messages: [{ ...salvageable, read: true }, ours] });
  });

  test('when the new content is malformed too, both are kept aside and salvaged', async () => {
    const dir = newFolder();
    const path = join(dir, 'wa_inbox.json');
    writeSettled(path, torn);
    const second = `${mailbox(theirs)}}`;
    const { result } = await updateWhile(path, (round) => {
      if (round === 1) replaceByRename(path, second);
    });
    expect(result.entries.map((entry) => entry.id)).toEqual(['theirs', 'salvageable', 'ours']);
    expect(readFileSync(join(dir, asideName), 'utf8')).toBe(torn);
    expect(readFileSync(join(dir, asideName.replace('250Z', '251Z')), 'utf8')).toBe(second);
  });

  test('when the program removes the file, the salvaged entries are written again', async () => {
    const path = join(newFolder(), 'wa_inbox.json');
    writeSettled(path, torn);
    const { result } = await updateWhile(path, (round) => {
      if (round === 1) rmSync(path);
    });
    expect(idsIn(path)).toEqual(['salvageable', 'ours']);
    expect(basename(result.quarantined?.path ?? '')).toBe(asideName);
  });
});

test('a program that removes malformed content and writes its own in the same place takes no entry with it', async () => {
  const path = join(newFolder(), 'wa_inbox.json');
  writeSettled(path, torn);
  await updateWhile(path, (round) => {
    if (round !== 1) return;
    rmSync(path);
    // Many file systems give the new file the number of the old one.
    writeFileSync(path, mailbox(theirs));
  });
  expect(idsIn(path)).toEqual(['theirs', 'salvageable', 'ours']);
});

test('a slow writer in place leaves no copy aside, and its whole content counts', async () => {
  const dir = newFolder();
  const path = join(dir, 'wa_inbox.json');
  const whole = mailbox(salvageable, theirs);
  writeSettled(path, whole.slice(0, -20));
  const { result, seen } = await updateWhile(path, (round) => {
    if (round === 1) writeFileSync(path, whole);
  });
  expect(seen.at(-1)).toEqual({ state: 'ok', ids: ['salvageable', 'theirs'] });
  expect(result.quarantined).toBeUndefined();
  expect(idsIn(path)).toEqual(['salvageable', 'theirs', 'ours']);
  expect(readdirSync(dir)).toEqual(['wa_inbox.json']);
});
