import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type Entry, mergeByIdentity } from '../../../agent/mailbox/merge.ts';
import { updateMailboxFile } from '../../../agent/mailbox/update.ts';
import { WaError } from '../../../protocol/errors.ts';
import { outboxEntry, temporaryFolders } from './temporary.ts';

const folder = temporaryFolders();
const optionsOf = (path: string) => ({ path, kind: 'outbox' as const, now: Date.now, lockTimeoutMs: 60_000 });
const entriesIn = (path: string): Entry[] => JSON.parse(readFileSync(path, 'utf8')).messages;
const idsIn = (path: string) => entriesIn(path).map((entry) => entry.id);

/** Resolves with what ended it: a signal or an exit code. */
async function runWriter(...args: string[]): Promise<string | number> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./writer-process.ts', import.meta.url)), ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code, signal] = await once(child, 'exit');
  return signal ?? code;
}

/** As `jq … > wa_outbox.json.tmp && mv` in a loop: reads, takes its time, writes what it read and one entry more. */
function startForeignWriter(path: string): { stop(): Promise<void> } {
  let isWriting = true;
  const loop = (async () => {
    for (let number = 1; isWriting; number += 1) {
      const messages = entriesIn(path);
      await new Promise((done) => setImmediate(done));
      const entry = outboxEntry({ id: `theirs_${number % 20}`, text: `number ${number}` });
      writeFileSync(`${path}.tmp`, JSON.stringify({ messages: [...messages.slice(-60), entry] }));
      renameSync(`${path}.tmp`, path);
      await new Promise((done) => setTimeout(done, 15));
    }
  })();
  return {
    stop() {
      isWriting = false;
      return loop;
    },
  };
}

/** On a busy machine the other writer may win every round of one update; the caller tries again then, as every caller of wa-sync does. */
async function appendUntilWritten(options: ReturnType<typeof optionsOf>, entry: Entry): Promise<void> {
  for (;;) {
    try {
      await updateMailboxFile(options, (entries) => [...entries, entry]);
      return;
    } catch (cause) {
      if (!(cause instanceof WaError && cause.retryable)) throw cause;
    }
  }
}

test('eight writer processes lose no update of each other and write none twice', async () => {
  const path = join(folder(), 'wa_outbox.json');
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const count = 12;
  const ends = await Promise.all(names.map((name) => runWriter('append', path, name, String(count))));
  expect(ends).toEqual(names.map(() => 0));
  const expected = names.flatMap((name) => Array.from({ length: count }, (_, index) => `${name}_${index}`));
  expect(idsIn(path).sort()).toEqual(expected.sort());
  for (const name of names) {
    const own = idsIn(path).filter((id) => id.startsWith(`${name}_`));
    expect(own).toEqual(Array.from({ length: count }, (_, index) => `${name}_${index}`));
  }
  expect(readdirSync(join(path, '..'))).toEqual(['wa_outbox.json']);
});

test('while a foreign writer never locks the file, the file is always whole, and what the writer drops can be put back', async () => {
  const path = join(folder(), 'wa_outbox.json');
  const options = optionsOf(path);
  await updateMailboxFile(options, () => [outboxEntry({ id: 'theirs_0' })]);
  const ours = Array.from({ length: 40 }, (_, index) => outboxEntry({ id: `ours_${index}` }));
  const foreign = startForeignWriter(path);
  try {
    for (const entry of ours) await appendUntilWritten(options, entry);
  } finally {
    await foreign.stop();
  }
  const standing = entriesIn(path);
  const { entries } = await updateMailboxFile(options, (each) => mergeByIdentity([...each, ...ours], 'outbox'));
  const ids = entries.map((entry) => entry.id);
  expect(ids.filter((id) => id.startsWith('ours_')).sort()).toEqual(ours.map((entry) => entry.id).sort());
  expect(entries.slice(0, standing.length)).toEqual(standing);
});

test('a writer killed before any call of the file system leaves a whole file and a lock that is taken over', async () => {
  const first = outboxEntry({ id: 'first' });
  let end: string | number = 'SIGKILL';
  let kills = 0;
  for (let callNumber = 1; end === 'SIGKILL'; callNumber += 1) {
    const path = join(folder(), 'wa_outbox.json');
    await updateMailboxFile(optionsOf(path), () => [first]);
    end = await runWriter('die', path, 'killed', String(callNumber));
    if (end === 'SIGKILL') kills += 1;
    const left = idsIn(path);
    expect([['first'], ['first', 'killed_0']]).toContainEqual(left);
    const { entries } = await updateMailboxFile(optionsOf(path), (each) => [...each, outboxEntry({ id: 'next' })]);
    expect(entries.map((entry) => entry.id)).toEqual([...left, 'next']);
    expect(readdirSync(join(path, '..')).filter((name) => !name.startsWith('.wa-tmp-'))).toEqual(['wa_outbox.json']);
  }
  expect(end).toBe(0);
  expect(kills).toBeGreaterThan(10);
});

test('a writer killed while it keeps malformed content aside loses nothing of it', async () => {
  const first = outboxEntry({ id: 'first' });
  const torn = `${JSON.stringify({ messages: [first] })},,`;
  let end: string | number = 'SIGKILL';
  for (let callNumber = 1; end === 'SIGKILL'; callNumber += 1) {
    const path = join(folder(), 'wa_outbox.json');
    writeFileSync(path, torn);
    end = await runWriter('die', path, 'killed', String(callNumber));
    const { entries } = await updateMailboxFile(optionsOf(path), (each) => [...each, outboxEntry({ id: 'next' })]);
    expect(entries[0]).toEqual(first);
    const aside = readdirSync(join(path, '..')).filter((name) => name.includes('.corrupt-'));
    expect(aside.map((name) => readFileSync(join(path, '..', name), 'utf8'))).toContain(torn);
  }
  expect(end).toBe(0);
});
