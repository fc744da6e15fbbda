import { readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keepAnswer, pruneAnswers, readAnswer } from '../../../agent/relay/full-answers.ts';
import { temporaryFolders } from '../mailbox/temporary.ts';

const newFolder = temporaryFolders();
const dayMs = 24 * 3_600_000;

test('a full answer is kept under any id, for this user alone, and the last one of an id counts', async () => {
  const dir = join(newFolder(), 'answers');
  const id = '../../etc/passwd\n\u0000'.repeat(40);
  await keepAnswer(dir, id, 'first');
  await keepAnswer(dir, id, 'second 👋');
  expect(await readAnswer(dir, id)).toBe('second 👋');
  expect(readdirSync(dir).map((name) => (statSync(join(dir, name)).mode & 0o777).toString(8))).toEqual(['600']);
});

test('an answer that was never kept is undefined', async () => {
  expect(await readAnswer(newFolder(), 'resp_1')).toBeUndefined();
  expect(await readAnswer(join(newFolder(), 'nowhere'), 'resp_1')).toBeUndefined();
});

test('answers go after a week', async () => {
  const dir = newFolder();
  const now = Date.parse('2026-02-15T15:00:00Z');
  for (const [id, ageMs] of [
    ['old', 7 * dayMs + 1_000],
    ['young', 7 * dayMs - 1_000],
  ] as const) {
    const known = new Set(readdirSync(dir));
    await keepAnswer(dir, id, id);
    const name = readdirSync(dir).find((each) => !known.has(each)) ?? '';
    utimesSync(join(dir, name), (now - ageMs) / 1000, (now - ageMs) / 1000);
  }
  await pruneAnswers(dir, now);
  expect([await readAnswer(dir, 'old'), await readAnswer(dir, 'young')]).toEqual([undefined, 'young']);
  await pruneAnswers(join(dir, 'nowhere'), now);
});
