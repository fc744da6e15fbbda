import { execFileSync } from 'node:child_process';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { eachLine, readFrom } from '../../../agent/fs/tail.ts';
import { temporaryFolders } from '../mailbox/temporary.ts';

const newFolder = temporaryFolders();
const target = () => join(newFolder(), 'session.jsonl');

describe('the text from an offset', () => {
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

  test('of a file above the limit the last whole lines are read', async () => {
    const path = target();
    const line = `${'ü'.repeat(511)}\n`;
    writeFileSync(path, line.repeat(9 * 1024));
    const text = await readFrom(path, 3);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(8 * 1024 * 1024);
    expect(text).toBe(line.repeat(text.length / line.length));
  });

  test('a missing file rejects', async () => {
    await expect(readFrom(target(), 0)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test.skipIf(process.platform === 'win32')('a pipe in its place is refused, not waited for', async () => {
    const path = target();
    execFileSync('mkfifo', [path]);
    await expect(readFrom(path, 0)).rejects.toMatchObject({ code: 'file_unusable' });
  });
});

describe('the lines from an offset', () => {
  async function read(path: string, part: { from: number; to?: number }): Promise<{ lines: string[]; until: number }> {
    const lines: string[] = [];
    const until = await eachLine(path, part, (line) => lines.push(line));
    return { lines, until };
  }

  test('the lines are those of the file, however they lie across the pieces that are read', async () => {
    const path = target();
    const line = fc
      .oneof(fc.constantFrom(0, 1, 65_535, 65_536, 65_537, 200_000), fc.nat(300))
      .map((size) => 'x'.repeat(size));
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 8 }), fc.constantFrom('', 'begun'), async (lines, rest) => {
        const whole = lines.map((each) => `${each}\n`).join('');
        writeFileSync(path, whole + rest);
        expect(await read(path, { from: 0 })).toEqual({ lines, until: whole.length });
      }),
      { numRuns: 50 },
    );
  });

  test('only new lines are read, and an incomplete line once it is whole', async () => {
    const path = target();
    writeFileSync(path, 'Grüße\nbeg');
    const { until } = await read(path, { from: 0 });
    appendFileSync(path, 'un 👋\n');
    expect(await read(path, { from: until })).toEqual({ lines: ['begun 👋'], until: 8 + 11 });
    expect(await read(path, { from: 0, to: until })).toEqual({ lines: ['Grüße'], until });
  });

  test('a file that became shorter was written anew and is read whole', async () => {
    const path = target();
    writeFileSync(path, 'new\n');
    expect(await read(path, { from: 1_000 })).toEqual({ lines: ['new'], until: 4 });
  });

  test('a line above the limit is skipped, and the lines around it are read', async () => {
    const path = target();
    writeFileSync(path, `a\n${'x'.repeat(9 * 1024 * 1024)}\nb\n`);
    expect((await read(path, { from: 0 })).lines).toEqual(['a', 'b']);
  });

  test.skipIf(process.platform === 'win32')('a pipe in its place is refused, not waited for', async () => {
    const path = target();
    execFileSync('mkfifo', [path]);
    await expect(read(path, { from: 0 })).rejects.toMatchObject({ code: 'file_unusable' });
  });
});
