import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { readSpool, removeSpooled, writeSpool } from '../../../agent/files/spool.ts';
import { temporaryFolders } from './temporary.ts';

const folder = temporaryFolders();

test('records come back whole and in the order in which they were written', async () => {
  const dir = join(folder(), 'state', 'spool');
  const written: { path: string; record: object }[] = [];
  for (let number = 0; number < 12; number += 1) {
    const record = { kind: 'answer', number, text: 'Grüße\n👋' };
    written.push({ path: await writeSpool([dir], record), record });
  }
  expect(await readSpool([dir])).toEqual({ records: written, broken: 0 });
  expect(readdirSync(dir).length).toBe(written.length);
  for (const { path } of written) {
    expect(basename(path)).toMatch(/^\d{15}-\d+-\d{4}\.json$/);
    expect((statSync(path).mode & 0o777).toString(8)).toBe('600');
  }
  expect((statSync(dir).mode & 0o777).toString(8)).toBe('700');
});

test('records written at the same time do not take each other’s name', async () => {
  const dir = folder();
  const paths = await Promise.all(Array.from({ length: 20 }, (_, number) => writeSpool([dir], { kind: 'x', number })));
  expect(new Set(paths).size).toBe(20);
  const { records } = await readSpool([dir]);
  const numbers = records.map(({ record }) => (record as { number: number }).number);
  expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, number) => number));
});

test('a reader that comes while a record is written takes it whole or not at all', async () => {
  const dir = folder();
  const record = { kind: 'answer', text: 'x'.repeat(200_000) };
  let isWriting = true;
  const writes = Promise.all(Array.from({ length: 10 }, () => writeSpool([dir], record))).finally(() => {
    isWriting = false;
  });
  while (isWriting) {
    const { records, broken } = await readSpool([dir]);
    expect([broken, records.every((each) => (each.record as typeof record).text === record.text)]).toEqual([0, true]);
  }
  await writes;
  expect((await readSpool([dir])).records.length).toBe(10);
});

test('a torn record is put into broken/ and told once; the others are read', async () => {
  const dir = folder();
  const path = await writeSpool([dir], { kind: 'answer' });
  writeFileSync(join(dir, '000000000000001-1-0000.json'), '{"kind":"ans');
  writeFileSync(join(dir, 'notes.txt'), 'not ours');
  expect(await readSpool([dir])).toEqual({ records: [{ path, record: { kind: 'answer' } }], broken: 1 });
  expect(await readSpool([dir])).toEqual({ records: [{ path, record: { kind: 'answer' } }], broken: 0 });
  expect(readFileSync(join(dir, 'broken', '000000000000001-1-0000.json'), 'utf8')).toBe('{"kind":"ans');
});

test('what cannot be read stays where it is and is told each time', async () => {
  const dir = folder();
  mkdirSync(join(dir, '000000000000001-1-0000.json'));
  expect(await readSpool([dir])).toEqual({ records: [], broken: 1 });
  expect(await readSpool([dir])).toEqual({ records: [], broken: 1 });
});

test('a removed record is gone, and removing it again is no error', async () => {
  const dir = folder();
  const path = await writeSpool([dir], { kind: 'answer' });
  await removeSpooled(path);
  await removeSpooled(path);
  expect(await readSpool([dir])).toEqual({ records: [], broken: 0 });
});

test('no folder means no records; a file in its place is named', async () => {
  const dir = folder();
  expect(await readSpool([join(dir, 'none')])).toEqual({ records: [], broken: 0 });
  writeFileSync(join(dir, 'file'), '');
  await expect(readSpool([join(dir, 'file')])).rejects.toMatchObject({ code: 'file_unusable' });
  await expect(writeSpool([join(dir, 'file')], { kind: 'answer' })).rejects.toMatchObject({ code: 'file_unusable' });
});
