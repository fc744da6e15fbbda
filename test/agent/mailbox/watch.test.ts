import { mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FileWatch, watchFiles } from '../../../agent/mailbox/watch.ts';
import { until } from '../../helpers/daemon.ts';

let dir: string;
let folder: string;
let file: string;
let changes: string[];
let watcher: FileWatch | undefined;

beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), 'wa-watch-')));
  folder = join(dir, '.gemini');
  file = join(folder, 'wa_outbox.json');
  changes = [];
});
afterEach(async () => {
  watcher?.stop();
  vi.useRealTimers();
  await rm(dir, { recursive: true, force: true });
});

const start = () => {
  watcher = watchFiles([file, join(folder, 'wa_inbox.json')], (path) => changes.push(path));
};
/** As Linux lists what this process watches: by inodes. */
async function isWatched(path: string): Promise<boolean> {
  const { ino } = await stat(path);
  const files = await readdir('/proc/self/fdinfo');
  const infos = await Promise.all(files.map((fd) => readFile(`/proc/self/fdinfo/${fd}`, 'utf8').catch(() => '')));
  return infos.join('').includes(` ino:${ino.toString(16)} `);
}
const told = () => until('the change is told', () => changes.includes(file));

describe.runIf(process.platform === 'linux')('without the stat of every two seconds, a change is reported', () => {
  // Nothing ticks: what is told here is told by the hint alone.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval'] }));

  it('in a folder that exists, for a file that is renamed into it', async () => {
    await mkdir(folder);
    start();
    await until('the hint is there', async () => {
      await writeFile(join(dir, 'new'), '{}');
      await rename(join(dir, 'new'), file);
      return changes.includes(file);
    });
    expect([...new Set(changes)]).toEqual([file]);
  });

  it('in a folder that is created later', async () => {
    start();
    await until('the folder above is watched', () => isWatched(dir));
    await mkdir(folder);
    await writeFile(file, '{}');
    await told();
    changes.length = 0;
    await writeFile(file, '{"messages":[]}');
    await told();
  });
});

describe('by the stat alone, a change is reported', () => {
  it('after the folder was replaced by another one', async () => {
    await mkdir(folder);
    await writeFile(file, '{}');
    start();
    await until('the hint is there', async () => {
      await writeFile(file, '{}');
      return changes.includes(file);
    });
    await rename(folder, join(dir, 'old'));
    await mkdir(join(dir, 'next'));
    await writeFile(join(dir, 'next', 'wa_outbox.json'), '{"messages":[1]}');
    // What is told from here on is told of the new folder, however soon the next look comes.
    changes.length = 0;
    await rename(join(dir, 'next'), folder);
    await told();
  });
});
