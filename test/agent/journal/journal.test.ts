import { appendFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openJournal } from '../../../agent/journal/journal.ts';
import { journalVersion, type ProjectRecord } from '../../../agent/journal/records.ts';
import { isKnown, type ProjectState } from '../../../agent/journal/state.ts';
import type { MessageRow, Row } from '../../../protocol/log.ts';

const p = '1000001.0';
const now = 1_790_000_000_000;
const hour = 3_600_000;

let path: string;
let clock = now;

beforeEach(async () => {
  path = join(await mkdtemp(join(tmpdir(), 'wa-journal-')), 'journal.jsonl');
  clock = now;
});

function open() {
  return openJournal(path, () => clock);
}

function message(seq: number, text = `text ${seq}`): MessageRow {
  return { seq, id: `msg_e_0_${seq}`, at: now + seq, kind: 'message', text, expiresAt: now + 24 * hour };
}

function row(each: Row, ahead?: true): ProjectRecord {
  return { t: 'row', p, at: now, row: each, ...(ahead ? { ahead } : {}) };
}

/** The state as plain data, to compare one life of the journal with the next. */
function plain(project: ProjectState) {
  return {
    epoch: project.epoch,
    cursor: project.cursor,
    waiting: [...project.waiting.values()].map(({ row: { id, text }, attempt, filedAt }) => ({
      id,
      text,
      attempt,
      filedAt,
    })),
    messages: [...project.messages.values()].map(({ row: { id }, phase, ended, hand }) => ({ id, phase, ended, hand })),
    receipts: [...project.receipts.values()],
    controls: [...project.controls.keys()],
    openKeys: [...project.openKeys],
    replaced: [...project.replaced],
  };
}

it('keeps approvals through a compaction: the mode, what is open, what was decided, and the day', async () => {
  const first = await open();
  const approval = (id: string) => ({ id, tool: 'run_shell_command', hash: 'h', expiresAt: now + hour });
  const usage = { day: '2026-09-21', turns: 3, ms: 5, tokens: 7, granted: 1 };
  await first.append([
    { t: 'approvals', p, at: now, mode: 'risky' },
    { t: 'asked', p, at: now, approval: approval('a') },
    { t: 'asked', p, at: now, approval: approval('b') },
    { t: 'decided', p, at: now + 1, id: 'a', verdict: 'denied' },
    { t: 'decided', p, at: now + 2, id: 'a', verdict: 'approved' },
    { t: 'usage', p, at: now, usage },
  ]);
  const before = structuredClone(first.project(p).approvals);
  expect(before.decided.get('a')).toEqual({ verdict: 'denied', at: now + 1 });
  await first.close();
  const second = await open();
  expect(second.project(p).approvals).toEqual(before);
  await second.close();
});

describe('the journal', () => {
  it('has every acknowledged record after the process is gone', async () => {
    const first = await open();
    await first.append([{ t: 'epoch', p, at: now, epoch: 'e', cursor: 0 }, row(message(1)), row(message(2))]);
    const before = plain(first.project(p));
    const second = await open();
    expect(plain(second.project(p))).toEqual(before);
    expect(before.cursor).toBe(2);
  });

  it('drops a torn last line and keeps what was fsynced before it', async () => {
    const first = await open();
    await first.append([{ t: 'epoch', p, at: now, epoch: 'e', cursor: 0 }, row(message(1))]);
    await appendFile(path, '{"t":"row","p":"1000001.0","at":1790000000000,"row":{"seq":2,"id":"msg');
    const second = await open();
    expect(second.project(p).cursor).toBe(1);
    expect(second.unreadableLines).toBe(0);
  });

  it('reads on after a damaged line in the middle and says how many there were', async () => {
    const first = await open();
    await first.append([{ t: 'epoch', p, at: now, epoch: 'e', cursor: 0 }, row(message(1)), row(message(2))]);
    await first.close();
    const lines = (await readFile(path, 'utf8')).split('\n');
    lines[2] = '\u0000\u0000{"t":';
    await writeFile(path, lines.join('\n'));
    const second = await open();
    expect(second.unreadableLines).toBe(1);
    expect([...second.project(p).messages.keys()]).toEqual(['msg_e_0_2']);
  });

  it.each([
    ['newer', journalVersion + 1, 'git pull'],
    ['older', journalVersion - 1, 'move the file away'],
  ])('refuses a journal of a %s version with its repair and changes nothing', async (_, version, repair) => {
    const line = `{"t":"journal","version":${version}}\n`;
    await writeFile(path, line);
    await expect(open()).rejects.toMatchObject({ code: 'journal_version', hint: expect.stringContaining(repair) });
    expect(await readFile(path, 'utf8')).toBe(line);
  });

  it('is readable by its owner only', async () => {
    await open();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('applies the records of concurrent callers in the order of their calls', async () => {
    const journal = await open();
    await Promise.all(Array.from({ length: 200 }, (_, index) => journal.append([row(message(index + 1))])));
    expect([...journal.project(p).waiting.keys()]).toEqual(
      Array.from({ length: 200 }, (_, index) => `msg_e_0_${index + 1}`),
    );
  });

  it('applies nothing when the disk refuses the line', async () => {
    const journal = await open();
    await journal.close();
    await expect(journal.append([row(message(1))])).rejects.toMatchObject({ code: 'file_unusable' });
    expect(journal.project(p).messages.size).toBe(0);
  });
});

describe('compaction', () => {
  const history: ProjectRecord[] = [
    { t: 'epoch', p, at: now, epoch: 'e', cursor: 0 },
    ...[1, 2, 3, 4, 5].map((seq) => row(message(seq))),
    row({ seq: 6, id: 'msg_e_0_6', at: now, kind: 'edit', editOf: 'msg_e_0_4', text: 'edited' }),
    row({ seq: 9, id: 'msg_e_0_9', at: now, kind: 'control', control: { type: 'stop', text: 'stop' } }, true),
    { t: 'filed', p, at: now + 1, ids: ['msg_e_0_3'] },
    {
      t: 'handed',
      p,
      at: now + 2,
      ids: ['msg_e_0_1', 'msg_e_0_2'],
      tool: 'gemini',
      session: 's',
      transcript: '/t.jsonl',
      offset: 7,
    },
    { t: 'proved', p, at: now + 3, ids: ['msg_e_0_1'] },
    { t: 'returned', p, at: now + 4, ids: ['msg_e_0_2'] },
    { t: 'ended', p, at: now + 5, ids: ['msg_e_0_1'], state: 'answered' },
    {
      t: 'entry',
      p,
      at: now,
      key: 'k'.repeat(64),
      answer: { id: 'resp_1', timestamp: '2026-02-15T14:30:15Z', text: 'x' },
    },
  ];

  it('gives the same state, in fewer lines, however often it runs', async () => {
    const first = await open();
    await first.append(history);
    const before = plain(first.project(p));
    await (await open()).close();
    const third = await open();
    expect(plain(third.project(p))).toEqual(before);
    expect(before.waiting.map(({ id, text, attempt }) => [id, text, attempt])).toEqual([
      ['msg_e_0_2', 'text 2', 1],
      ['msg_e_0_3', 'text 3', 0],
      ['msg_e_0_4', 'edited', 0],
      ['msg_e_0_5', 'text 5', 0],
    ]);
  });

  it('forgets an ended message but still knows its id, so that a second delivery is dropped', async () => {
    const first = await open();
    await first.append([...history, { t: 'receipted', p, at: now, receipts: [...first.project(p).receipts.values()] }]);
    await first.append([{ t: 'receipted', p, at: now, receipts: [...first.project(p).receipts.values()] }]);
    const second = await open();
    expect(second.project(p).messages.has('msg_e_0_1')).toBe(false);
    await second.append([row(message(1))]);
    expect(second.project(p).waiting.has('msg_e_0_1')).toBe(false);
  });

  it('forgets the id when the relay cannot send it again', async () => {
    const first = await open();
    await first.append(history);
    await first.append([{ t: 'receipted', p, at: now, receipts: [...first.project(p).receipts.values()] }]);
    clock = now + 49 * hour;
    await open();
    expect(await readFile(path, 'utf8')).not.toContain('msg_e_0_1"');
  });
});

describe('the state of a project', () => {
  it('moves the cursor by rows of the window only, never by a control handed out ahead', async () => {
    const journal = await open();
    await journal.append(history('stop'));
    expect(journal.project(p).cursor).toBe(1);
    expect([...journal.project(p).controls.keys()]).toEqual(['msg_e_0_9']);
  });

  function history(type: 'stop'): ProjectRecord[] {
    return [
      { t: 'epoch', p, at: now, epoch: 'e', cursor: 0 },
      row({ seq: 9, id: 'msg_e_0_9', at: now, kind: 'control', control: { type, text: 'stop' } }, true),
      row(message(1)),
    ];
  }

  it('gives an edit as a correction that was journalled while the old text was on its way to the agent', async () => {
    const journal = await open();
    const hand = { tool: 'gemini' as const, session: 's', transcript: null, offset: 0 };
    const edit = (seq: number, text: string) =>
      row({ seq, id: `msg_e_0_${seq}`, at: now + seq, kind: 'edit', editOf: 'msg_e_0_1', text });
    await journal.append([row(message(1, 'first')), edit(2, 'second'), edit(3, 'third'), row(message(4))]);
    await journal.append([{ t: 'handed', p, at: now, ids: ['msg_e_0_1'], edits: [1], ...hand }]);
    const after = {
      messages: [
        { id: 'msg_e_0_1', phase: 'handed', text: 'second', corrects: undefined },
        { id: 'msg_e_0_4', phase: 'waiting', text: 'text 4', corrects: undefined },
        { id: 'msg_e_0_3', phase: 'waiting', text: 'third', corrects: 'msg_e_0_1' },
      ],
      waiting: ['msg_e_0_3', 'msg_e_0_4'],
      replaced: [['msg_e_0_1', [{ text: 'first', by: { id: 'msg_e_0_2', seq: 2, at: now + 2 } }]]],
    };
    const found = (project: ProjectState) => ({
      messages: [...project.messages.values()].map(({ row: { id, text, corrects }, phase }) => ({
        id,
        phase,
        text,
        corrects,
      })),
      waiting: [...project.waiting.keys()],
      replaced: [...project.replaced],
    });
    expect(found(journal.project(p))).toEqual(after);
    await journal.close();
    expect(found((await open()).project(p))).toEqual(after);
  });

  it('turns an edit that comes after the hand-over into a message of its own', async () => {
    const journal = await open();
    await journal.append([
      row(message(1)),
      { t: 'handed', p, at: now, ids: ['msg_e_0_1'], tool: 'gemini', session: 's', transcript: null, offset: 0 },
      row({ seq: 2, id: 'msg_e_0_2', at: now, kind: 'edit', editOf: 'msg_e_0_1', text: 'corrected' }),
    ]);
    expect([...journal.project(p).waiting.values()].map((each) => each.row)).toEqual([
      {
        seq: 2,
        id: 'msg_e_0_2',
        at: now,
        kind: 'message',
        text: 'corrected',
        expiresAt: now + 24 * hour,
        corrects: 'msg_e_0_1',
      },
    ]);
  });

  it('gives a message that was sent again once, in its new place, also after a restart', async () => {
    const journal = await open();
    await journal.append([row(message(1)), row(message(2)), row({ ...message(3, 'text 1'), retryOf: 'msg_e_0_1' })]);
    expect([...journal.project(p).waiting.keys()]).toEqual(['msg_e_0_2', 'msg_e_0_3']);
    expect([...journal.project(p).receipts.keys()]).toEqual([]);
    expect([...(await open()).project(p).waiting.keys()]).toEqual(['msg_e_0_2', 'msg_e_0_3']);
  });

  it('keeps the first terminal state of an attempt and lets a higher attempt pass', async () => {
    const journal = await open();
    const ids = ['msg_e_0_1'];
    await journal.append([
      row(message(1)),
      { t: 'proved', p, at: now, ids },
      { t: 'ended', p, at: now + 1, ids, state: 'answered' },
      { t: 'ended', p, at: now + 2, ids, state: 'failed' },
    ]);
    expect([...journal.project(p).receipts.values()]).toEqual([
      { id: 'msg_e_0_1', attempt: 0, state: 'answered', at: now + 1 },
    ]);
  });

  it('keeps a report that rose while the poll with the older one was under way', async () => {
    const journal = await open();
    const ids = ['msg_e_0_1'];
    await journal.append([row(message(1)), { t: 'proved', p, at: now, ids }]);
    const sent = [...journal.project(p).receipts.values()];
    await journal.append([{ t: 'ended', p, at: now + 1, ids, state: 'answered' }]);
    await journal.append([{ t: 'receipted', p, at: now + 2, receipts: sent }]);
    expect([...journal.project(p).receipts.values()].map(({ state }) => state)).toEqual(['answered']);
  });
});

it('a journal that runs for weeks stays small, on the disk and in memory, and knows what it was given in the last days', async () => {
  const journal = await openJournal(path, () => clock, 64 * 1024);
  const day = 24 * hour;
  let seq = 0;
  for (let days = 0; days < 30; days += 1) {
    clock += day;
    const rows = Array.from({ length: 100 }, () => message(++seq, 'x'.repeat(200)));
    const ids = rows.map(({ id }) => id);
    await journal.append(rows.map((each) => ({ ...row(each), at: clock })));
    await journal.append([
      { t: 'ended', p, at: clock, ids, state: 'answered' },
      { t: 'receipted', p, at: clock, receipts: ids.map((id) => ({ id, attempt: 0, state: 'answered', at: clock })) },
    ]);
  }
  const { messages, known } = journal.project(p);
  expect((await stat(path)).size).toBeLessThan(4 * 64 * 1024);
  expect(messages.size + known.size).toBeLessThan(600);
  expect([1, 2].map((back) => isKnown(journal.project(p), `msg_e_0_${seq - 100 * back + 100}`))).toEqual([true, true]);
  await journal.close();
});

it('a compaction that the disk has no room for costs nothing: the file goes on as it was', async () => {
  const journal = await openJournal(path, () => clock, 1);
  // In the place of the new file stands what cannot be removed as a file.
  await mkdir(join(`${path}.new`, 'in-the-way'), { recursive: true });
  await journal.append([{ t: 'epoch', p, at: now, epoch: 'e', cursor: 0 }]);
  for (let seq = 1; seq <= 20; seq += 1) await journal.append([row(message(seq))]);
  const before = plain(journal.project(p));
  await journal.close();
  await rm(`${path}.new`, { recursive: true });
  const second = await open();
  expect(plain(second.project(p))).toEqual(before);
  expect(before.messages).toHaveLength(20);
  await second.close();
});
