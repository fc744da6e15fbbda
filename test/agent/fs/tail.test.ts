import { execFileSync } from 'node:child_process';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readFrom } from '../../../agent/fs/tail.ts';
import { temporaryFolders } from '../mailbox/temporary.ts';

const newFolder = temporaryFolders();
const target = () => join(newFolder(), 'session.jsonl');

test('what was appended since an offset is read, in bytes and not in characters', async () => {
  const path = target();
  const before = '{"text":"Grüße 👋"}\n';
  writeFileSync(path, before);
  const offset = Buffer.byteLength(before);
  expect(await readFrom(path, offset)).toBe('');
  appendFileSync(path, '{"text":"später"}\n');
  expect(await readFrom(path, offset)).toBe('{"text":"später"}\n');
});

test('a file that became shorter was written anew and is read whole', async () => {
  const path = target();
  writeFileSync(path, 'new\n');
  expect(await readFrom(path, 1_000)).toBe('new\n');
});

test('of a file that is far too large the last whole lines are read', async () => {
  const path = target();
  const line = `${'ü'.repeat(511)}\n`;
  writeFileSync(path, line.repeat(9 * 1024));
  const text = await readFrom(path, 3);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(8 * 1024 * 1024);
  expect(text).toBe(line.repeat(text.length / line.length));
});

test('a file that is not there rejects', async () => {
  await expect(readFrom(target(), 0)).rejects.toMatchObject({ code: 'ENOENT' });
});

test.skipIf(process.platform === 'win32')('a pipe in its place is refused, not waited for', async () => {
  const path = target();
  execFileSync('mkfifo', [path]);
  await expect(readFrom(path, 0)).rejects.toMatchObject({ code: 'file_unusable' });
});
