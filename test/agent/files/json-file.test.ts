import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readJsonFile, writeJsonFile } from '../../../agent/files/json-file.ts';
import { temporaryFolders } from './temporary.ts';

const newFolder = temporaryFolders();

test('what was written is read back, from a folder that is made for it', async () => {
  const path = join(newFolder(), 'state', 'view.json');
  await writeJsonFile(path, { mode: 'sprint' });
  await writeJsonFile(path, { mode: 'interactive' });
  expect(await readJsonFile(path)).toEqual({ mode: 'interactive' });
  expect([path, join(path, '..')].map((each) => (statSync(each).mode & 0o777).toString(8))).toEqual(['600', '700']);
});

test('a file that is missing or broken reads as none', async () => {
  const path = join(newFolder(), 'view.json');
  expect(await readJsonFile(path)).toBeUndefined();
  writeFileSync(path, '{"mode":');
  expect(await readJsonFile(path)).toBeUndefined();
});
