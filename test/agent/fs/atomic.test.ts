import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeAtomic } from '../../../agent/fs/atomic.ts';
import { sweepTemporary } from '../../../agent/fs/sweep.ts';
import { updateMailboxFile } from '../../../agent/mailbox/update.ts';
import { inboxEntry, temporaryFolders } from '../mailbox/temporary.ts';

const folder = temporaryFolders();
const hourMs = 3_600_000;

describe('an atomic write', () => {
  test('makes a file of mode 600 and leaves nothing else', async () => {
    const dir = folder();
    const path = join(dir, 'wa_inbox.json');
    expect(await writeAtomic(path, 'new')).toBe(true);
    expect([readFileSync(path, 'utf8'), (statSync(path).mode & 0o777).toString(8)]).toEqual(['new', '600']);
    expect(readdirSync(dir)).toEqual(['wa_inbox.json']);
  });

  test('has its content under a unique name before the rename, never wa_*.json.tmp', async () => {
    const dir = folder();
    const path = join(dir, 'wa_inbox.json');
    writeFileSync(path, 'old');
    let seen: string[] = [];
    await writeAtomic(path, 'new', async () => {
      seen = readdirSync(dir).map((name) => readFileSync(join(dir, name), 'utf8'));
      expect(readdirSync(dir).filter((name) => /^wa_.*\.tmp$/.test(name))).toEqual([]);
      return true;
    });
    expect(seen.sort()).toEqual(['new', 'old']);
  });

  test('that is cancelled, or fails, leaves the old file and no other', async () => {
    const dir = folder();
    const path = join(dir, 'wa_inbox.json');
    writeFileSync(path, 'old');
    expect(await writeAtomic(path, 'new', async () => false)).toBe(false);
    await expect(writeAtomic(path, 'new', () => Promise.reject(new Error('stopped')))).rejects.toMatchObject({
      code: 'file_unusable',
    });
    expect(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), 'utf8')])).toEqual([
      ['wa_inbox.json', 'old'],
    ]);
  });

  test('into a missing folder, or a file in its place, names the problem and the repair', async () => {
    const dir = folder();
    writeFileSync(join(dir, 'file'), '');
    await expect(writeAtomic(join(dir, 'none', 'x.json'), '')).rejects.toMatchObject({
      code: 'file_unusable',
      message: `${join(dir, 'none', 'x.json')} cannot be used: ENOENT`,
    });
    await expect(writeAtomic(join(dir, 'file', 'x.json'), '')).rejects.toMatchObject({
      code: 'file_unusable',
      hint: `${join(dir, 'file')} must be a folder: move away the file in its place.`,
    });
  });
});

test('temporary files of dead writers are removed after an hour; young ones and those of living writers stay', async () => {
  const dir = folder();
  const now = Date.now();
  const dead = spawnSync(process.execPath, ['-e', '']).pid;
  const leave = (name: string, ageMs: number) => {
    writeFileSync(join(dir, name), '');
    utimesSync(join(dir, name), (now - ageMs) / 1000, (now - ageMs) / 1000);
  };
  leave(`.wa-tmp-${dead}-000000000001`, 2 * hourMs);
  leave(`.wa-tmp-${dead}-000000000002`, hourMs / 2);
  leave(`.wa-tmp-${process.pid}-000000000003`, 2 * hourMs);
  leave('.wa-tmp-ticket-wa_inbox.json.lock-0123456789abcdef', 2 * hourMs);
  leave('.wa-tmp-1-notes-of-mine', 2 * hourMs);
  leave('wa_inbox.json', 2 * hourMs);
  leave('settings.json', 2 * hourMs);
  await sweepTemporary(dir, now);
  expect(readdirSync(dir).sort()).toEqual(
    [
      '.wa-tmp-1-notes-of-mine',
      `.wa-tmp-${dead}-000000000002`,
      `.wa-tmp-${process.pid}-000000000003`,
      'settings.json',
      'wa_inbox.json',
    ].sort(),
  );
  await sweepTemporary(join(dir, 'none'), now);
});

/** False = this user may not mount. */
function mountSmallDisk(dir: string): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', dir]).status === 0;
}

function mayMount(): boolean {
  const dir = folder();
  return mountSmallDisk(dir) && spawnSync('umount', [dir]).status === 0;
}

test.skipIf(!mayMount())(
  'on a full disk an update fails by name and the old file is intact (needs the right to mount)',
  async () => {
    const disk = folder();
    mountSmallDisk(disk);
    try {
      const path = join(disk, 'wa_inbox.json');
      const options = { path, kind: 'inbox' as const, now: Date.now };
      await updateMailboxFile(options, () => [inboxEntry()]);
      const before = readFileSync(path, 'utf8');
      const fill = () => writeFileSync(join(disk, 'filler'), Buffer.alloc(256 * 1024));
      expect(fill).toThrow(/ENOSPC/);
      await expect(
        updateMailboxFile(options, (entries) => [...entries, inboxEntry({ id: 'b' })]),
      ).rejects.toMatchObject({
        code: 'file_unusable',
        hint: 'Free some disk space; what waits is written then.',
      });
      expect(readFileSync(path, 'utf8')).toBe(before);
      expect(readdirSync(disk).sort()).toEqual(['filler', 'wa_inbox.json']);
      execFileSync('mount', ['-o', 'remount,ro', disk]);
      await expect(updateMailboxFile(options, () => [])).rejects.toMatchObject({ code: 'file_unusable' });
      expect(readFileSync(path, 'utf8')).toBe(before);
    } finally {
      spawnSync('umount', [disk]);
    }
  },
);
