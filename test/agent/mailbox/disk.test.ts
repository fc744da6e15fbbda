import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readMailbox, updateMailboxFile } from '../../../agent/mailbox/update.ts';
import type { OutboxEntry } from '../../../protocol/files.ts';
import { outboxEntry, temporaryFolders } from './temporary.ts';

const newFolder = temporaryFolders();
const first = outboxEntry({ id: 'first' });
const append = (path: string, entry: OutboxEntry) =>
  updateMailboxFile<OutboxEntry>({ path, kind: 'outbox', now: Date.now }, (entries) => [...entries, entry]);
const contentOf = (dir: string) =>
  Object.fromEntries(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), 'utf8')]));

/** A disk of 64 kB; only root may make one, and not in every container. */
function tryMount(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined;
  const dir = mkdtempSync(join(tmpdir(), 'wa-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', dir], { stdio: 'ignore' });
    return dir;
  } catch {
    rmSync(dir, { recursive: true });
    return undefined;
  }
}

const disk = tryMount();
afterAll(() => {
  if (disk === undefined) return;
  execFileSync('umount', [disk]);
  rmSync(disk, { recursive: true });
});

/** To the last byte; what is removed of it is what is free. */
function fillUp(dir: string): void {
  const page = Buffer.alloc(4096, 'x');
  for (let number = 0; ; number += 1) {
    try {
      writeFileSync(join(dir, `ballast-${number}`), page);
    } catch {
      return;
    }
  }
}

describe.skipIf(disk === undefined)('a full disk (needs root and mount)', () => {
  const mailboxDir = join(disk ?? '', 'project');
  const ballastDir = join(disk ?? '', 'ballast');
  const path = join(mailboxDir, 'wa_outbox.json');

  beforeAll(async () => {
    mkdirSync(mailboxDir);
    mkdirSync(ballastDir);
    await append(path, first);
    fillUp(ballastDir);
  });

  test('is file_unusable with the repair, the old file stands and no other file is left', async () => {
    const before = contentOf(mailboxDir);
    await expect(append(path, outboxEntry({ id: 'second' }))).rejects.toMatchObject({
      code: 'file_unusable',
      retryable: true,
      hint: 'Free some disk space; what waits is written then.',
      cause: { code: 'ENOSPC' },
    });
    expect(contentOf(mailboxDir)).toEqual(before);
  });

  test('with room for the lock but not for the file leaves the old file, too', async () => {
    const before = contentOf(mailboxDir);
    rmSync(join(ballastDir, 'ballast-0'));
    rmSync(join(ballastDir, 'ballast-1'));
    const large = outboxEntry({ id: 'large', text: 'x'.repeat(12_000) });
    await expect(append(path, large)).rejects.toMatchObject({ code: 'file_unusable', cause: { code: 'ENOSPC' } });
    expect(contentOf(mailboxDir)).toEqual(before);
    fillUp(ballastDir);
  });

  test('keeps malformed content where it is, until there is room to keep it aside', async () => {
    const torn = `${JSON.stringify({ messages: [first] })},,`;
    rmSync(join(ballastDir, 'ballast-0'), { force: true });
    writeFileSync(path, torn);
    utimesSync(path, 1, 1);
    fillUp(ballastDir);
    await expect(append(path, outboxEntry({ id: 'second' }))).rejects.toMatchObject({ code: 'file_unusable' });
    expect(contentOf(mailboxDir)).toEqual({ 'wa_outbox.json': torn });
    for (const name of readdirSync(ballastDir)) rmSync(join(ballastDir, name));
    const { entries, quarantined } = await append(path, outboxEntry({ id: 'second' }));
    expect(entries.map((entry) => entry.id)).toEqual(['first', 'second']);
    expect(readFileSync(quarantined?.path ?? '', 'utf8')).toBe(torn);
    fillUp(ballastDir);
  });
});

describe.skipIf(disk === undefined)('a read-only disk (needs root and mount)', () => {
  const path = join(disk ?? '', 'wa_outbox.json');

  beforeAll(async () => {
    for (const name of readdirSync(disk ?? '')) rmSync(join(disk ?? '', name), { recursive: true });
    await append(path, first);
    execFileSync('mount', ['-o', 'remount,ro', disk ?? '']);
  });

  test('can still be read, and a write is file_unusable with the settings that help', async () => {
    expect(await readMailbox(path, 'outbox')).toEqual({
      state: 'ok',
      entries: [first],
      incomplete: false,
      exposed: false,
      modifiedAtMs: statSync(path).mtimeMs,
    });
    await expect(append(path, outboxEntry({ id: 'second' }))).rejects.toMatchObject({
      code: 'file_unusable',
      hint: `${disk} is on a read-only disk: set WA_MAILBOX_DIR or WA_STATE_DIR to a folder that is not.`,
      cause: { code: 'EROFS' },
    });
    expect(await readMailbox(path, 'outbox')).toEqual({
      state: 'ok',
      entries: [first],
      incomplete: false,
      exposed: false,
      modifiedAtMs: statSync(path).mtimeMs,
    });
  });
});

test.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
  'a folder without the right to write is file_unusable, and its file can still be read (not as root)',
  async () => {
    const dir = newFolder();
    const path = join(dir, 'wa_outbox.json');
    await append(path, first);
    chmodSync(dir, 0o500);
    const update = append(path, outboxEntry({ id: 'second' }));
    await expect(update).rejects.toMatchObject({ code: 'file_unusable', cause: { code: 'EACCES' } });
    chmodSync(dir, 0o700);
    expect(await readMailbox(path, 'outbox')).toEqual({
      state: 'ok',
      entries: [first],
      incomplete: false,
      exposed: false,
      modifiedAtMs: statSync(path).mtimeMs,
    });
  },
);
