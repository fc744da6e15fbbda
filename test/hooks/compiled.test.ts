// The fallback as it is shipped keeps the code that V8 compiled, and never runs code that was damaged.

import { copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { dist } from '../helpers/stack.ts';
import { temporaryFolder } from '../helpers/surroundings.ts';
import { printed, run } from './launcher-run.ts';

const line = '{"decision":"deny","reason":"of the gate file"}';
const fallback = 'wa-hook-fallback.cjs';
const bundle = 'wa-hook-gemini.cjs';
let root: string;
let folder: string;

beforeEach(async () => {
  root = await temporaryFolder();
  folder = join(root, 'compiled');
  await mkdir(join(root, 'gate'));
  await writeFile(join(root, 'gate', 'gemini-BeforeTool'), line);
  for (const name of [fallback, bundle]) await copyFile(join(dist, name), join(root, name));
});

/** A gate whose payload cannot be read: the longest way to an answer that needs no project. */
function hook() {
  const args = [join(root, fallback), 'gemini', 'BeforeTool', '60', '1', '1', root, root, root];
  return run(process.execPath, args, {}, 'no JSON');
}

async function kept(): Promise<{ path: string; inode: number }> {
  const [name = '', ...others] = await readdir(folder);
  expect(others).toEqual([]);
  const path = join(folder, name);
  return { path, inode: (await stat(path)).ino };
}

it('code that a hook compiled is kept for this Node and this build alone, and the next hook runs it', async () => {
  expect(await hook()).toEqual(printed(`${line}\n`));
  const { path, inode } = await kept();
  expect(path).toMatch(new RegExp(`/[0-9a-f]{16}-${process.version}-${process.arch}$`));
  expect([(await stat(folder)).mode & 0o777, (await stat(path)).mode & 0o777]).toEqual([0o700, 0o600]);
  expect(await hook()).toEqual(printed(`${line}\n`));
  // Code that V8 refuses is replaced by a new file.
  expect((await kept()).inode).toBe(inode);
});

it.each([
  ['a damaged byte', (code: Buffer) => Buffer.from(code.map((byte, at) => (at === 3_000 ? byte ^ 0xff : byte)))],
  ['a lost end', (code: Buffer) => code.subarray(0, 5_001)],
  ['nothing in it', () => Buffer.alloc(0)],
  ['zeros in it', (code: Buffer) => Buffer.alloc(code.length)],
])('kept code with %s is compiled again and replaced', async (_, damage) => {
  await hook();
  const { path, inode } = await kept();
  await writeFile(path, damage(await readFile(path)));
  expect(await hook()).toEqual(printed(`${line}\n`));
  expect((await kept()).inode).not.toBe(inode);
});

it('a bundle of another build is compiled itself, though kept code of the same length lies there', async () => {
  await hook();
  const text = await readFile(join(root, bundle), 'utf8');
  const other = text.replaceAll('"turnEnd"', '"turnend"').replace(/[0-9a-f]/, (digit) => (digit === '0' ? '1' : '0'));
  await writeFile(join(root, bundle), other);
  expect(await hook()).toEqual(printed(`${line}\n`));
  expect(await readdir(folder)).toHaveLength(2);
});

it.each(['none', '../gemini', 'claude', ''])('a hook of %j, which has no bundle here, answers {}', async (tool) => {
  const args = [join(root, fallback), tool, 'BeforeTool', '60', '1', '1', root, root, root];
  expect(await run(process.execPath, args, {}, '{}')).toEqual(printed('{}\n'));
});

it('a hook that cannot keep its code answers all the same', async () => {
  await writeFile(folder, '');
  expect(await hook()).toEqual(printed(`${line}\n`));
  await rm(folder);
  expect(await hook()).toEqual(printed(`${line}\n`));
});
