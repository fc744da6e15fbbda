import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  acquireLock,
  newOwner,
  placeLock,
  readLock,
  readLockOwner,
  removeMarked,
  removeStale,
  withFileLock,
} from '../../../agent/fs/lock.ts';
import { temporaryFolders } from '../mailbox/temporary.ts';

const folder = temporaryFolders();
const target = () => join(folder(), 'wa_inbox.json');
const atOnce = { timeoutMs: 0, short: true };
const minuteMs = 60_000;

const deadPid = spawnSync(process.execPath, ['-e', '']).pid;

describe('a lock', () => {
  test('lies next to the file, names its owner, and is removed by the release', async () => {
    const path = target();
    const lock = await acquireLock(path, atOnce);
    const owner = await readLockOwner(path);
    expect(owner).toEqual({ ...newOwner(), at: owner?.at, nonce: owner?.nonce });
    expect(owner?.pid).toBe(process.pid);
    expect(readdirSync(join(path, '..'))).toEqual(['wa_inbox.json.lock']);
    await lock.release();
    await lock.release();
    expect([await readLockOwner(path), readdirSync(join(path, '..'))]).toEqual([undefined, []]);
  });

  test('that is held causes a lock_timeout that names the owner', async () => {
    const path = target();
    await acquireLock(path, atOnce);
    await expect(acquireLock(path, { timeoutMs: 20, short: true })).rejects.toMatchObject({
      code: 'lock_timeout',
      retryable: true,
      message: `${path}.lock is held by process ${process.pid} on ${hostname()}`,
    });
  });

  test('held by another living process is respected until that process is killed, then taken over', async () => {
    const path = target();
    const holder = spawn(
      process.execPath,
      [fileURLToPath(new URL('./lock-holder-process.ts', import.meta.url)), path],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    await once(holder.stdout, 'data');
    await expect(acquireLock(path, { timeoutMs: 20, short: false })).rejects.toMatchObject({
      message: `${path}.lock is held by process ${holder.pid} on ${hostname()}`,
    });
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    const lock = await acquireLock(path, { timeoutMs: 0, short: false });
    expect((await readLockOwner(path))?.pid).toBe(process.pid);
    await lock.release();
  });

  test('is released also when the work under it fails', async () => {
    const path = target();
    await expect(withFileLock(path, 0, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await withFileLock(path, 0, async () => 'next')).toBe('next');
  });

  test('is released by its owner alone', async () => {
    const path = target();
    const lock = await acquireLock(path, atOnce);
    const other = JSON.stringify({ ...newOwner(), pid: 1 });
    writeFileSync(`${path}.lock`, other);
    await lock.release();
    expect(readFileSync(`${path}.lock`, 'utf8')).toBe(other);
  });

  test('is given to the callers of one process in the order in which they asked', async () => {
    const path = target();
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 20 }, (_, number) =>
        withFileLock(path, minuteMs, async () => {
          order.push(number);
        }),
      ),
    );
    expect(order).toEqual(Array.from({ length: 20 }, (_, number) => number));
  });

  test('passes to the next caller when a waiting caller gives up', async () => {
    const path = target();
    const first = await acquireLock(path, atOnce);
    const second = acquireLock(path, { timeoutMs: 5, short: true });
    const third = acquireLock(path, { timeoutMs: minuteMs, short: true });
    await expect(second).rejects.toMatchObject({ code: 'lock_timeout' });
    await first.release();
    await (await third).release();
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  test('in a missing folder, or with a folder in its place, is file_unusable', async () => {
    const path = target();
    await expect(acquireLock(join(path, 'none'), atOnce)).rejects.toMatchObject({ code: 'file_unusable' });
    mkdirSync(`${path}.lock`);
    await expect(acquireLock(path, atOnce)).rejects.toMatchObject({
      code: 'file_unusable',
      hint: `Move ${path}.lock away.`,
    });
  });
});

describe('a lock left behind', () => {
  const place = (path: string, fields: object) =>
    writeFileSync(`${path}.lock`, JSON.stringify({ ...newOwner(), ...fields }));
  const isTaken = (path: string, short: boolean) =>
    acquireLock(path, { timeoutMs: 0, short }).then(
      () => true,
      () => false,
    );

  test.each([
    ['of a process that is gone', { pid: deadPid }, { short: true, process: true }],
    ['of an earlier process with a pid that lives again', { started: '1' }, { short: true, process: true }],
    ['of a living process, one minute old', { at: Date.now() - minuteMs - 1 }, { short: true, process: false }],
    ['of a living process, young', {}, { short: false, process: false }],
    ['of another machine, young', { host: 'elsewhere', pid: deadPid }, { short: false, process: false }],
    [
      'of another machine, from the future',
      { host: 'elsewhere', at: 9_999_999_999_999 },
      { short: true, process: false },
    ],
    ['of a living process, from the future', { at: 9_999_999_999_999 }, { short: true, process: false }],
    ['of another container, young', { pidSpace: 'pid:[1]', pid: deadPid }, { short: false, process: false }],
    [
      'of another machine, one minute old',
      { host: 'elsewhere', at: Date.now() - minuteMs - 1 },
      { short: true, process: false },
    ],
  ])('%s', async (_name, fields, expected) => {
    const taken = await Promise.all(
      [true, false].map(async (short) => {
        const path = target();
        place(path, fields);
        return isTaken(path, short);
      }),
    );
    expect({ short: taken[0], process: taken[1] }).toEqual(expected);
  });

  test.each([
    ['empty', ''],
    ['torn', '{"pid":1,"ho'],
    ['of another form', '{"pid":"x"}'],
    ['with a nonce that is a path', JSON.stringify({ ...newOwner(), nonce: '../../x', pid: deadPid })],
    ['larger than any lock', ' '.repeat(5000)],
  ])('that is %s is taken over after ten seconds and not before', async (_name, content) => {
    const path = target();
    writeFileSync(`${path}.lock`, content);
    expect(await isTaken(path, true)).toBe(false);
    const elevenSecondsAgo = Date.now() / 1000 - 11;
    utimesSync(`${path}.lock`, elevenSecondsAgo, elevenSecondsAgo);
    expect(await isTaken(path, true)).toBe(true);
  });

  test('that is torn and of the future is taken over at once', async () => {
    const path = target();
    writeFileSync(`${path}.lock`, '');
    utimesSync(`${path}.lock`, 4e9, 4e9);
    expect(await isTaken(path, true)).toBe(true);
  });

  test.each([
    ['a link', (path: string) => symlinkSync('/dev/zero', path), /is a link, which is never followed/],
    ['a pipe', (path: string) => execFileSync('mkfifo', [path]), /Move .*\.lock away/],
    ['a folder', (path: string) => mkdirSync(path), /Move .*\.lock away/],
  ])('in whose place stands %s is an error that says the repair', async (_name, plant, hint) => {
    const path = target();
    plant(`${path}.lock`);
    await expect(acquireLock(path, atOnce)).rejects.toMatchObject({
      code: 'file_unusable',
      hint: expect.stringMatching(hint),
    });
  });
});

describe('stealing', () => {
  const stale = () => ({ ...newOwner(), pid: deadPid });

  test('a slow stealer does not remove the fresh lock of another process', async () => {
    const lockPath = `${target()}.lock`;
    const dead = stale();
    await placeLock(lockPath, dead);
    const seen = await readLock(lockPath);
    await removeMarked(lockPath, dead.nonce);
    const fresh = newOwner();
    await placeLock(lockPath, fresh);
    expect(seen && (await removeStale(lockPath, seen, minuteMs))).toBe(false);
    expect((await readLock(lockPath))?.owner).toEqual(fresh);
    expect(readdirSync(join(lockPath, '..'))).toEqual(['wa_inbox.json.lock']);
  });

  test('by many processes at once removes the lock once', async () => {
    const lockPath = `${target()}.lock`;
    const dead = stale();
    await placeLock(lockPath, dead);
    const removed = await Promise.all(Array.from({ length: 10 }, () => removeMarked(lockPath, dead.nonce)));
    expect(removed.filter(Boolean)).toEqual([true]);
    expect(readdirSync(join(lockPath, '..'))).toEqual([]);
  });

  test('leaves the ticket of a living stealer that slept for two minutes alone', async () => {
    const lockPath = `${target()}.lock`;
    const dead = stale();
    const ticket = join(lockPath, '..', `.wa-tmp-ticket-wa_inbox.json.lock-${dead.nonce}`);
    await placeLock(lockPath, dead);
    const sleeper = { ...newOwner(), at: Date.now() - 2 * minuteMs };
    await placeLock(ticket, sleeper);
    for (let tries = 0; tries < 2; tries += 1) expect(await removeMarked(lockPath, dead.nonce)).toBe(false);
    expect((await readLock(ticket))?.owner).toEqual(sleeper);
  });

  test('continues after a stealer that died while it held the ticket', async () => {
    const path = target();
    const dead = stale();
    await placeLock(`${path}.lock`, dead);
    await placeLock(join(path, '..', `.wa-tmp-ticket-wa_inbox.json.lock-${dead.nonce}`), stale());
    const lock = await acquireLock(path, { timeoutMs: minuteMs, short: false });
    await lock.release();
    expect(readdirSync(join(path, '..'))).toEqual([]);
  });

  test('continues after a ticket that seems to be held for hours, because a cloned repository may contain one', async () => {
    const path = target();
    const dead = stale();
    await placeLock(`${path}.lock`, dead);
    const ticket = { ...newOwner(), pid: 1, started: '', at: 9_999_999_999_999 };
    await placeLock(join(path, '..', `.wa-tmp-ticket-wa_inbox.json.lock-${dead.nonce}`), ticket);
    const lock = await acquireLock(path, { timeoutMs: minuteMs, short: false });
    await lock.release();
    expect(readdirSync(join(path, '..'))).toEqual([]);
  });

  test('leaves the lock to a living stealer', async () => {
    const path = target();
    const dead = stale();
    await placeLock(`${path}.lock`, dead);
    await placeLock(join(path, '..', `.wa-tmp-ticket-wa_inbox.json.lock-${dead.nonce}`), newOwner());
    await expect(acquireLock(path, atOnce)).rejects.toMatchObject({ code: 'lock_timeout' });
    expect((await readLockOwner(path))?.nonce).toBe(dead.nonce);
  });
});
