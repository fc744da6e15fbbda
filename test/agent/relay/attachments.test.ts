import { mkdir, mkdtemp, readdir, readFile, realpath, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Journal, openJournal } from '../../../agent/journal/journal.ts';
import { textOf } from '../../../agent/journal/state.ts';
import { type Attachments, createAttachments, safeName } from '../../../agent/relay/attachments.ts';
import { createRelayClient, type RelayClient } from '../../../agent/relay/client.ts';
import { createOutages } from '../../../agent/relay/outages.ts';
import { WaError } from '../../../protocol/errors.ts';
import { relayLimits } from '../../../protocol/limits.ts';
import type { PhoneFile } from '../../../protocol/log.ts';

const p = '1000001.0';
const id = 'msg_e_0_1';
const now = 1_790_000_000_000;
const photo: PhoneFile = { id: 'f1', kind: 'photo', name: 'photo.jpg', bytes: 4 };

let root: string;
let dir: string;
let server: Server;
let answers: (() => { status: number; body: Buffer | string; cut?: true })[];
let journal: Journal;
let client: RelayClient;
let attachments: Attachments;
let clock = now;
let missing: [string, readonly string[]][];

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'wa-attach-')));
  dir = join(root, 'wa_files');
  clock = now;
  answers = [];
  missing = [];
  server = createServer((_, response) => {
    const { status, body, cut } = (answers.length > 1 ? answers.shift() : answers[0])?.() ?? { status: 500, body: '' };
    response.writeHead(status, cut ? { 'content-length': Buffer.byteLength(body) + 10 } : {});
    response.write(body, () => (cut ? response.destroy() : response.end()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  client = createRelayClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 't' });
  journal = await openJournal(join(root, 'journal.jsonl'), () => clock);
  attachments = attachmentsFrom(client);
});

const attachmentsFrom = (from: RelayClient) =>
  createAttachments({
    project: journal.project(p),
    address: { mailbox: '1000001', project: 0 },
    journal,
    client: from,
    folders: async () => [{ dir, shownDir: '.gemini/wa_files' }],
    prepare: async () => {},
    onFetched: () => {},
    clock: () => clock,
    onMissing: (id, names) => missing.push([id, names]),
    random: () => 0,
    log: () => {},
    outages: createOutages({ log: () => {}, clock: () => clock }),
  });

afterEach(async () => {
  vi.useRealTimers();
  attachments.stop();
  await client.close();
  await journal.close();
  server.closeAllConnections();
  server.close();
});

async function receive(...files: PhoneFile[]): Promise<string | undefined> {
  const row = { seq: 1, id, at: now, kind: 'message', text: 'look', expiresAt: now + 1e9, files } as const;
  await journal.append([{ t: 'row', p, at: now, row: { ...row, files: [...files] } }]);
  expect(journal.project(p).waiting.size).toBe(0);
  await attachments.fetch();
  const message = journal.project(p).waiting.get(id);
  return message && textOf(message);
}

describe('a message with files', () => {
  it('stays hidden until its files lie in the project, and then names their paths', async () => {
    answers = [() => ({ status: 200, body: 'JPEG' })];
    expect(await receive(photo)).toBe(`look\n[photo: .gemini/wa_files/${id}-photo.jpg]`);
    const path = join(dir, `${id}-photo.jpg`);
    expect(await readFile(path, 'utf8')).toBe('JPEG');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('keeps the order of an album and tells its parts apart', async () => {
    answers = [() => ({ status: 200, body: 'JPEG' })];
    expect(await receive(photo, { ...photo, id: 'f2' })).toBe(
      `look\n[photo: .gemini/wa_files/${id}-1-photo.jpg]\n[photo: .gemini/wa_files/${id}-2-photo.jpg]`,
    );
  });

  it('is fetched again when the line was cut, and nothing half is left', async () => {
    answers = [() => ({ status: 200, body: 'JP', cut: true }), () => ({ status: 200, body: 'JPEG' })];
    expect(await receive(photo)).toContain('wa_files');
    expect(await readdir(dir)).toEqual([`${id}-photo.jpg`]);
    expect(await readFile(join(dir, `${id}-photo.jpg`), 'utf8')).toBe('JPEG');
  });

  it('is fetched again when it ended early without a word', async () => {
    answers = [() => ({ status: 200, body: 'JP' }), () => ({ status: 200, body: 'JPEG' })];
    expect(await receive(photo)).toContain('wa_files');
    expect(await readFile(join(dir, `${id}-photo.jpg`), 'utf8')).toBe('JPEG');
  });

  it('comes without the file, and says so, when the platform no longer has it', async () => {
    const error = { code: 'not_found', message: 'the file is gone' };
    answers = [() => ({ status: 404, body: JSON.stringify({ error }) })];
    expect(await receive(photo)).toBe('look\n[photo photo.jpg: could not be fetched, the file is gone]');
    expect(await readdir(dir)).toEqual([]);
  });

  it('says what it comes without to the phone, once', async () => {
    const error = { code: 'not_found', message: 'the file is gone' };
    answers = [
      () => ({ status: 404, body: JSON.stringify({ error }) }),
      () => ({ status: 200, body: 'JPEG' }),
      () => ({ status: 413, body: JSON.stringify({ error: { code: 'body_too_large', message: 'it is too large' } }) }),
    ];
    await receive(photo, { ...photo, id: 'f2' }, { ...photo, id: 'f3', name: 'film.mp4' });
    expect(missing).toEqual([[id, ['photo.jpg: the file is gone', 'film.mp4: it is too large']]]);
  });

  it('comes without a file of which the platform has less than it says, after two tries', async () => {
    let asked = 0;
    answers = [
      () => {
        asked += 1;
        return { status: 200, body: 'JP' };
      },
    ];
    expect(await receive(photo)).toBe('look\n[photo photo.jpg: could not be fetched, it ended after 2 of 4 bytes]');
    expect(asked).toBe(2);
  });

  it('comes at once without a file for which the relay asks to wait longer than a message may', async () => {
    const error = { code: 'rate_limited', message: 'the platform asks for a pause', retryAfterMs: 13_938_000 };
    let asked = 0;
    answers = [
      () => {
        asked += 1;
        return { status: 503, body: JSON.stringify({ error }) };
      },
    ];
    expect(await receive(photo)).toBe('look\n[photo photo.jpg: could not be fetched, the platform asks for a pause]');
    expect(asked).toBe(1);
  });

  it('is fetched again when the pause that the relay asks for is over, and not before', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let asked = 0;
    const download: RelayClient['download'] = async () => {
      asked += 1;
      if (asked === 1) throw new WaError('rate_limited', 'a pause', { retryAfterMs: 60_000 });
      return (async function* () {
        yield Buffer.from('JPEG');
      })();
    };
    attachments = attachmentsFrom({ download } as RelayClient);
    const received = receive(photo);
    while (vi.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(59_999);
    expect([asked, vi.getTimerCount()]).toEqual([1, 1]);
    vi.advanceTimersByTime(1);
    expect(await received).toContain('wa_files');
    expect(asked).toBe(2);
  });

  it('comes without a file that is larger than it may be', async () => {
    answers = [() => ({ status: 200, body: Buffer.alloc(relayLimits.fileDownBytes + 1) })];
    expect(await receive({ ...photo, bytes: 4 })).toContain('could not be fetched, it is larger than');
    expect(await readdir(dir)).toEqual([]);
  });

  it('never goes through a link in place of the folder, nor over a file that a link names', async () => {
    const outside = join(root, 'outside');
    await mkdir(outside);
    await symlink(outside, dir);
    answers = [() => ({ status: 200, body: 'JPEG' })];
    expect(await receive(photo)).toContain('could not be fetched');
    expect(await readdir(outside)).toEqual([]);
  });

  it('replaces a link in place of the file instead of writing through it', async () => {
    const victim = join(root, 'victim');
    await writeFile(victim, 'mine');
    await mkdir(dir);
    await symlink(victim, join(dir, `${id}-photo.jpg`));
    answers = [() => ({ status: 200, body: 'JPEG' })];
    await receive(photo);
    expect(await readFile(victim, 'utf8')).toBe('mine');
  });
});

describe('an old file', () => {
  const tenDaysAgo = now / 1000 - 10 * 24 * 3600;
  const leave = async (folder: string, ...names: string[]) => {
    await mkdir(folder, { recursive: true });
    for (const name of names) {
      await writeFile(join(folder, name), 'x');
      await utimes(join(folder, name), tenDaysAgo, tenDaysAgo);
    }
  };

  it('of the phone goes after a week; what is not named as we name it stays', async () => {
    await leave(dir, `${id}-photo.jpg`, `${id}-2-notes.txt`, 'thesis.txt', 'msg_of_mine.txt', `${id}`);
    await writeFile(join(dir, `${id}-young.jpg`), 'x');
    await utimes(join(dir, `${id}-young.jpg`), now / 1000, now / 1000);
    await attachments.prune();
    expect((await readdir(dir)).sort()).toEqual([id, `${id}-young.jpg`, 'msg_of_mine.txt', 'thesis.txt'].sort());
  });

  it('is not looked for through a link in place of the folder, under any name', async () => {
    const outside = join(root, 'outside');
    await leave(outside, 'thesis.txt', `${id}-photo.jpg`);
    await symlink(outside, dir);
    await attachments.prune();
    expect((await readdir(outside)).sort()).toEqual([`${id}-photo.jpg`, 'thesis.txt']);
  });

  it('that is a link or a folder stays, and so does what it leads to', async () => {
    const outside = join(root, 'outside');
    await leave(outside, 'thesis.txt');
    await leave(join(dir, `${id}-folder`), 'kept.txt');
    await symlink(join(outside, 'thesis.txt'), join(dir, `${id}-link.txt`));
    await attachments.prune();
    expect(await readdir(outside)).toEqual(['thesis.txt']);
    expect((await readdir(dir)).sort()).toEqual([`${id}-folder`, `${id}-link.txt`]);
  });
});

describe('a file whose download keeps failing', () => {
  /** Answers by the name of the file; `bad` never comes. */
  function platform(asked: string[]): RelayClient {
    const download: RelayClient['download'] = async (_, fileId) => {
      asked.push(fileId);
      if (fileId.startsWith('bad')) throw new WaError('platform_error', 'Telegram answered 502');
      return (async function* () {
        yield Buffer.from('JPEG');
      })();
    };
    return { download } as RelayClient;
  }

  async function arrive(seq: number, ...files: string[]): Promise<void> {
    const own = { seq, id: `msg_e_0_${seq}`, at: now, kind: 'message', text: `m${seq}`, expiresAt: now + 1e9 } as const;
    const row = { ...own, files: files.map((file) => ({ ...photo, id: file })) };
    await journal.append([{ t: 'row', p, at: now, row }]);
  }

  const here = () => [...journal.project(p).waiting.values()].map(({ row }) => row.seq);

  it('holds up neither the files of later messages nor those that come while it is tried', async () => {
    const asked: string[] = [];
    attachments = attachmentsFrom(platform(asked));
    for (let seq = 1; seq <= 8; seq += 1) await arrive(seq, seq <= 5 ? `bad-${seq}` : `good-${seq}`);
    void attachments.fetch();
    await expect.poll(here).toEqual([6, 7, 8]);
    await arrive(9, 'good-9');
    void attachments.fetch();
    await expect.poll(here).toEqual([6, 7, 8, 9]);
    expect(journal.project(p).fetching.size).toBe(5);
  });

  it('is given up after ten minutes, and the message comes with the files that are here', async () => {
    const asked: string[] = [];
    attachments = attachmentsFrom(platform(asked));
    await arrive(1, 'good-a', 'bad', 'good-b');
    const fetched = attachments.fetch();
    await expect.poll(() => asked).toContain('bad');
    clock += 10 * 60_000 + 1;
    await fetched;
    const [message] = journal.project(p).waiting.values();
    expect(message && textOf(message).split('\n')).toEqual([
      'm1',
      '[photo: .gemini/wa_files/msg_e_0_1-1-photo.jpg]',
      '[photo photo.jpg: could not be fetched, Telegram answered 502]',
      '[photo: .gemini/wa_files/msg_e_0_1-3-photo.jpg]',
    ]);
    // What was here was not fetched again with each try.
    expect(asked.filter((file) => file !== 'bad')).toEqual(['good-a', 'good-b']);
  });
});

describe('a file name of the phone', () => {
  it.each([
    ['../../etc/passwd', 'etc_passwd'],
    ['..\\..\\boot.ini', 'boot.ini'],
    ['.bashrc', 'bashrc'],
    ['a b\u0000c\n.txt', 'a_b_c_.txt'],
    ['-rf', 'rf'],
    ['日本語 ✅.md', '日本語_.md'],
    [`${'x'.repeat(300)}.tar.gz`, `${'x'.repeat(60)}.gz`],
    ['///', 'file'],
    ['\u202Egpj.exe', 'gpj.exe'],
  ])('%j becomes %j', (name, safe) => {
    expect(safeName(name)).toBe(safe);
  });
});
