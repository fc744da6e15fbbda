// The compressions in a session file, recorded from a CLI that had compressed by itself and was resumed.

import { appendFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, it } from 'vitest';
import { newCompressions } from '../../../../agent/drivers/session-file.ts';
import { temporaryFolder } from '../../../helpers/surroundings.ts';

const recorded = fileURLToPath(new URL('../../../fixtures/gemini-0.61.0/session.compressed.jsonl', import.meta.url));
const summary = '<state_snapshot>all of it</state_snapshot>';

let path: string;
let lines: string[];
/** Bytes before the line that holds the whole history, for the first and for the second time. */
let offsets: number[];
beforeEach(async () => {
  path = join(await temporaryFolder(), 'session.jsonl');
  lines = (await readFile(recorded, 'utf8')).split('\n');
  await writeFile(path, lines.join('\n'));
  const rewritten = lines.flatMap((line, index) => (line.includes(summary) ? [index] : []));
  offsets = rewritten.map((index) => Buffer.byteLength(lines.slice(0, index).join('\n')) + 1);
});

it('a turn in which the history was replaced by a summary has compressed', async () => {
  expect(offsets).toHaveLength(2);
  expect(await newCompressions({ agent: 'gemini', path }, offsets[0] ?? 0)).toEqual([summary]);
});

it('a summary that is written again, after a resume or a cancelled turn, does not count as a compression', async () => {
  expect(await newCompressions({ agent: 'gemini', path }, offsets[1] ?? 0)).toEqual([]);
});

it('a later compression counts once more, and an incomplete line does not count', async () => {
  const { size } = await stat(path);
  const again = lines.find((line) => line.includes(summary))?.replaceAll('all of it', 'more of it') ?? '';
  await appendFile(path, again.slice(0, -10));
  expect(await newCompressions({ agent: 'gemini', path }, size)).toEqual([]);
  await writeFile(path, `${lines.join('\n')}${again}\n`);
  expect(await newCompressions({ agent: 'gemini', path }, size)).toEqual([
    '<state_snapshot>more of it</state_snapshot>',
  ]);
});

it('a turn without a compression reads nothing of the earlier file', async () => {
  expect(await newCompressions({ agent: 'gemini', path }, (await readFile(path)).length)).toEqual([]);
});
