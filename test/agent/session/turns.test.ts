import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Journal, openJournal } from '../../../agent/journal/journal.ts';
import { toEntry } from '../../../agent/mailbox/inbox-view.ts';
import { answerId } from '../../../agent/mailbox/signing.ts';
import { createTurns } from '../../../agent/session/turns.ts';
import type { ToldEnd, TurnReport, Turns } from '../../../agent/session/types.ts';
import type { WaitingMessage } from '../../../agent/turns/view.ts';
import type { TurnEvent } from '../../../protocol/turn-events.ts';

const p = '1000001.0';
const id = 'msg_e_0_1';
const now = 1_790_000_000_000;

let root: string;
let journal: Journal;
let diskIsFull: boolean;
let foreign: WaitingMessage | undefined;
let fileIsFull: boolean;
let toldAlone: ToldEnd[];
let onCatchUp: () => Promise<void>;
let beforeAppend: (() => Promise<void>) | undefined;
let reports: TurnReport[];
/** Kinds of records, by append. */
let appends: string[][];
let turns: Turns;
let time: number;
let told: string[];
let isPolled: boolean;
let nudge: (pid: number) => Promise<boolean>;
let isTerminal: boolean;
let canWake: boolean;
let keyAt: number | undefined;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'wa-turns-'));
  journal = await openJournal(join(root, 'journal.jsonl'), () => now);
  diskIsFull = false;
  foreign = undefined;
  fileIsFull = false;
  toldAlone = [];
  onCatchUp = async () => {};
  beforeAppend = undefined;
  reports = [];
  appends = [];
  time = now;
  told = [];
  isPolled = false;
  isTerminal = false;
  canWake = false;
  keyAt = undefined;
  nudge = async () => false;
  turns = newTurns();
  const row = { seq: 1, id, at: now, kind: 'message', text: 'go', expiresAt: now + 1e9 } as const;
  await journal.append([{ t: 'row', p, at: now, row }]);
});

afterEach(async () => {
  await journal.close();
  await rm(root, { recursive: true });
});

/** As a daemon that starts with this journal. */
function newTurns(): Turns {
  const project = journal.project(p);
  return createTurns({
    project,
    journal: {
      ...journal,
      append: async (records) => {
        if (diskIsFull) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
        if (records.some(({ t }) => t === 'handed')) await beforeAppend?.();
        appends.push(records.map(({ t }) => t));
        await journal.append(records);
      },
    },
    inbox: {
      waiting: async () => ({
        messages: foreign
          ? [foreign]
          : [...project.waiting.values()]
              .filter(({ parked }) => parked !== 'parked')
              .map((message) => ({ entry: toEntry(message), at: message.row.at, fromOwner: true })),
        further: 0,
      }),
      take: async (_messages, _note, record) => {
        if (!fileIsFull) await record();
        return !fileIsFull;
      },
      claim: async () => [],
      catchUp: () => onCatchUp(),
      refresh: async () => {},
      hasNews: () => project.waiting.size > 0,
      foreignStop: () => undefined,
      settleForeignStops: async () => {},
    },
    // As the outbox does.
    report: async (report) => {
      reports.push(report);
      const { receipts, turn } = report;
      if (diskIsFull && receipts.length > 0) throw new Error('no space left on device');
      if (diskIsFull) return;
      appends.push(['report', ...receipts.map((each) => each.t)]);
      await journal.append([...receipts, { t: 'turn', p, at: now, turn }]);
    },
    onReceipts: () => {},
    activity: { started: () => {}, running: () => {}, said: () => {}, tool: () => {}, ended: () => {} },
    tell: async (_, text, replyTo) => {
      told.push(replyTo === undefined ? text : `to ${replyTo}: ${text}`);
    },
    compressions: async () => [],
    told: async () => toldAlone,
    onDialog: () => {},
    isAlive: () => true,
    isInteractive: async () => isTerminal,
    lastKeyAt: async () => keyAt,
    canWake: async () => canWake,
    nudge: (pid) => nudge(pid),
    awayAfterMs: 120_000,
    follow: 'always',
    tellWithheld: async () => {},
    routes: () => [{ name: 'lease', wakes: false, gatherMs: 0, isOpen: () => isPolled, deliver: async () => 'nobody' }],
    holdPolicy: 'auto',
    sprintText: undefined,
    clock: () => time,
    log: () => {},
  });
}

const happens = (event: TurnEvent, transcript?: string) =>
  turns.handle(
    { agent: 'gemini', event, session: 's', cwd: root, transcript },
    { tool: 'gemini', pid: 42, maxMs: 60_000, isGone: () => false },
  );
const message = () => journal.project(p).messages.get(id);
const line = (type: string, content: unknown) =>
  `${JSON.stringify({ id: `${type} ${JSON.stringify(content)}`, type, content })}\n`;

const texts = () => reports.map(({ text }) => text);

it('an answer that comes while the disk is full is reported at once, and its message settled when there is room, under the same id', async () => {
  const { context = '' } = await happens({ type: 'turnStart', prompt: 'go on' });
  await happens({ type: 'modelRequest', texts: [context] });
  // Answered before its work is done.
  while (message()?.phase !== 'injected') await new Promise((resolve) => setImmediate(resolve));
  diskIsFull = true;
  const end = { type: 'turnEnd', answer: 'Done.', run: 'the first' } as const;
  expect(await happens(end)).toEqual({});
  expect(reports).toMatchObject([{ text: 'Done.', failed: false, replyTo: id }]);
  expect(message()?.ended).toBeUndefined();

  diskIsFull = false;
  // Told again, and dropped by its id.
  await happens(end);
  expect(message()?.ended).toBe('answered');
  expect(reports[1]?.id).toBe(reports[0]?.id);
  await happens({ type: 'turnStart', prompt: 'go on' });
  await happens({ type: 'turnEnd', answer: 'And the next.', run: 'the second' });
  expect(new Set(reports.map(({ id: of }) => of)).size).toBe(2);
  expect(reports.at(-1)?.text).toBe('And the next.');
});

it('a message is answered in the append of the journal that has the answer, and in no other', async () => {
  const { context = '' } = await happens({ type: 'turnStart', prompt: 'go on' });
  await happens({ type: 'modelRequest', texts: [context] });
  await happens({ type: 'turnEnd', answer: 'Done.', run: '1' });
  expect(message()?.ended).toBe('answered');
  expect(reports).toMatchObject([{ text: 'Done.', receipts: [{ t: 'ended', state: 'answered', ids: [id] }] }]);
  expect(appends.filter((kinds) => kinds.includes('ended'))).toEqual([['report', 'ended']]);
});

it('a further turn that begins and ends while the disk is full is reported as well, each under its own id', async () => {
  await happens({ type: 'turnStart', prompt: 'go on' });
  diskIsFull = true;
  expect(await happens({ type: 'turnEnd', answer: 'One.', run: '1' })).toEqual({});
  for (const run of ['2', '3']) {
    await expect(happens({ type: 'turnStart', prompt: 'go on' })).rejects.toThrow('no space left');
    expect(await happens({ type: 'turnEnd', answer: `Answer ${run}.`, run })).toEqual({});
  }
  const ids = reports.filter(({ failed }) => !failed).map(({ id: of }) => of);
  expect(texts()).toEqual(expect.arrayContaining(['One.', 'Answer 2.', 'Answer 3.']));
  expect(new Set(ids).size).toBe(3);
});

it('a message is given only where the file says so, because a hook without the daemon reads no journal', async () => {
  fileIsFull = true;
  expect(await happens({ type: 'turnStart', prompt: 'go on' })).toEqual({});
  expect(message()).toMatchObject({ phase: 'waiting', attempt: 0 });
  fileIsFull = false;
  expect((await happens({ type: 'turnStart', prompt: 'go on' })).context).toContain(']\ngo\n[');
});

it('a turn that the host calls failed is told with the error of the host, never with the text that came along', async () => {
  const { context = '' } = await happens({ type: 'turnStart', prompt: 'go on' });
  await happens({ type: 'modelRequest', texts: [context] });
  await happens({ type: 'turnEnd', answer: 'API Error: 529', error: 'Overloaded.', run: '1', last: true });
  expect(reports).toMatchObject([{ text: 'Overloaded.', failed: true, replyTo: id }]);
  expect(message()?.ended).toBe('failed');
});

it('a message that waits at an end from which the host takes no prompt stays unread, and the terminal is not held', async () => {
  isTerminal = true;
  await happens({ type: 'turnStart', prompt: 'go on' });
  const row = { seq: 2, id: 'msg_e_0_2', at: now, kind: 'message', text: 'two', expiresAt: now + 1e9 } as const;
  await journal.append([{ t: 'row', p, at: now, row }]);
  await turns.steering.away('on');
  const end = { type: 'turnEnd', answer: undefined, cancelled: true, run: '1', last: true } as const;
  expect(await happens(end)).toEqual({});
  expect([turns.status().held, journal.project(p).messages.get('msg_e_0_2')?.phase]).toEqual([false, 'waiting']);
  expect(texts()).toEqual(['Cancelled at the keyboard.']);
});

describe('after a restart', () => {
  it('the journal knows the session, the turn that runs and where it began', async () => {
    const transcript = join(root, 'session.jsonl');
    await writeFile(transcript, 'before\n');
    await happens({ type: 'turnStart', prompt: 'go on' }, transcript);
    turns = newTurns();
    expect(turns.status()).toMatchObject({ session: 's', turnRuns: true });
    await appendFile(transcript, line('user', `go on ${id}`) + line('gemini', 'Done.'));
    await happens({ type: 'turnEnd', answer: 'Done.', run: '1' }, transcript);
    expect([message()?.ended, texts()]).toEqual(['answered', ['Done.']]);
    turns = newTurns();
    expect(turns.status()).toMatchObject({ session: 's', turnRuns: false });
  });

  it('a message is proved from the session file without another event', async () => {
    const transcript = join(root, 'session.jsonl');
    await writeFile(transcript, '');
    await happens({ type: 'turnStart', prompt: 'go on' }, transcript);
    await writeFile(transcript, line('user', `go on ${id}`) + line('gemini', 'On my way.'));
    turns = newTurns();
    await turns.checkProcess();
    expect([message()?.phase, turns.status().turnRuns, texts()]).toEqual(['injected', true, []]);
  });

  it('an end that a hook told alone settles its turn, although the session file had no answer then, and the next prompt does not tell it again', async () => {
    const transcript = join(root, 'session.jsonl');
    await writeFile(transcript, '');
    await happens({ type: 'turnStart', prompt: 'go on' }, transcript);
    const prompt = line('user', `go on ${id}`);
    await writeFile(transcript, prompt + line('gemini', 'Done.'));
    toldAlone = [{ id: 'told 1', text: 'Done.', transcript, at: prompt.length }];
    turns = newTurns();
    await turns.checkProcess();
    expect(message()?.ended).toBe('answered');
    await happens({ type: 'turnStart', prompt: 'next' }, transcript);
    expect(reports.map((each) => each.id)).toEqual(['told 1']);
  });

  it('what hooks gave and told alone is settled turn by turn, each under the id that the hook gave its answer', async () => {
    const transcript = join(root, 'session.jsonl');
    const given = async (of: string, offset: number) =>
      journal.append([{ t: 'handed', p, at: now, ids: [of], tool: 'gemini', session: 's', transcript, offset }]);
    const row = { seq: 2, id: 'msg_e_0_2', at: now, kind: 'message', text: 'two', expiresAt: now + 1e9 } as const;
    await journal.append([{ t: 'row', p, at: now, row }]);
    const first = line('user', `go ${id}`) + line('gemini', 'One.');
    const second = line('user', 'go msg_e_0_2') + line('error', 'no quota');
    await writeFile(transcript, first + second);
    await given(id, 0);
    await given('msg_e_0_2', first.length);
    toldAlone = [
      { id: 'told 1', text: 'One.', transcript, at: first.length },
      { id: 'told 2', text: 'Failed: no quota', transcript, at: first.length + second.length },
    ];
    turns = newTurns();
    await turns.checkProcess();
    const ended = [...journal.project(p).messages.values()].map((each) => each.ended);
    expect(ended).toEqual(['answered', 'failed']);
    expect(reports.map((each) => [each.id, each.text])).toEqual([
      ['told 1', 'One.'],
      ['told 2', 'no quota'],
    ]);
    expect(turns.status().turnRuns).toBe(false);
    await turns.checkProcess();
    expect(reports).toHaveLength(2);
  });

  it('an end that no event tells has the id of the last message of the model, so that every daemon that finds it tells the same', async () => {
    const transcript = join(root, 'session.jsonl');
    await writeFile(transcript, '');
    await happens({ type: 'turnStart', prompt: 'go on' }, transcript);
    await writeFile(transcript, line('user', `go on ${id}`) + line('gemini', 'Done.'));
    const { turn } = journal.project(p);
    await happens({ type: 'turnStart', prompt: 'next' }, transcript);
    // Killed before the journal had it.
    if (turn) await journal.append([{ t: 'turn', p, at: now, turn }]);
    turns = newTurns();
    await happens({ type: 'turnStart', prompt: 'next' }, transcript);
    expect(texts()).toEqual(['Done.', 'Done.']);
    expect(reports[1]?.id).toBe(reports[0]?.id);
  });
});

describe('a prompt whose hook gives up on a daemon that has just started', () => {
  let transcript: string;
  const before = line('user', 'one') + line('gemini', 'One.');
  const own = line('user', 'go on') + line('gemini', 'Done.');
  const end = { type: 'turnEnd', answer: 'Done.', run: 'r' } as const;

  beforeEach(async () => {
    transcript = join(root, 'session.jsonl');
    await writeFile(transcript, before);
    await happens({ type: 'sessionStart', source: 'startup' }, transcript);
    turns = newTurns();
  });

  /** `work` = what hook and host do while the daemon comes to the prompt. */
  async function promptDuring(work: () => Promise<void>, isNoticed: boolean): Promise<void> {
    let isGone = false;
    onCatchUp = async () => {
      onCatchUp = async () => {};
      await work();
      isGone = isNoticed;
    };
    await turns.handle(
      { agent: 'gemini', event: { type: 'turnStart', prompt: 'go on' }, session: 's', cwd: root, transcript },
      { tool: 'gemini', pid: 42, maxMs: 60_000, isGone: () => isGone },
    );
  }

  it.each([
    ['which the daemon notices', true],
    ['which the daemon does not notice', false],
  ])('has its answer told once, under the id of its own end: %s', async (_, isNoticed) => {
    await promptDuring(() => appendFile(transcript, own), isNoticed);
    await happens(end, transcript);
    expect(reports.map((each) => [each.id, each.text])).toEqual([[answerId('gemini', 's', 'r'), 'Done.']]);
  });

  it('keeps what the hook gave alone for the end of this turn', async () => {
    await promptDuring(async () => {
      await journal.append([
        { t: 'handed', p, at: now, ids: [id], tool: 'gemini', session: 's', transcript, offset: before.length },
      ]);
      await appendFile(transcript, line('user', `go on ${id}`) + line('gemini', 'Done.'));
    }, true);
    expect(reports).toEqual([]);
    await happens(end, transcript);
    expect([message()?.ended, texts()]).toEqual(['answered', ['Done.']]);
  });
});

it('a turn that no event ended is told without a word of the next one, whose prompt waits for a slow daemon', async () => {
  const transcript = join(root, 'session.jsonl');
  await writeFile(transcript, '');
  await happens({ type: 'turnStart', prompt: 'go on' }, transcript);
  await writeFile(transcript, line('user', `go on ${id}`) + line('gemini', 'One.'));
  onCatchUp = () => appendFile(transcript, line('user', 'next') + line('gemini', 'Two.'));
  await happens({ type: 'turnStart', prompt: 'next' }, transcript);
  onCatchUp = async () => {};
  await happens({ type: 'turnEnd', answer: 'Two.', run: 'r' }, transcript);
  expect(texts()).toEqual(['One.', 'Two.']);
});

it('a message that a hook gave alone is proved in the turn that a daemon began too late, and is not given again', async () => {
  fileIsFull = true;
  const transcript = join(root, 'session.jsonl');
  // The hook had given up on a daemon that stood still, which comes to the beginning of the turn after the prompt was kept.
  await writeFile(transcript, line('user', [{ text: `<hook_context>${id}</hook_context>` }]));
  await happens({ type: 'turnStart', prompt: 'go on' }, transcript);
  await journal.append([
    { t: 'handed', p, at: now, ids: [id], edits: [0], tool: 'gemini', session: 's', transcript, offset: 0 },
  ]);
  await appendFile(transcript, line('gemini', 'Went.'));
  await happens({ type: 'turnEnd', answer: 'Went.', run: 'r' }, transcript);
  expect([message()?.ended, message()?.attempt, texts()]).toEqual(['answered', 0, ['Went.']]);
});

it('an edit that is journalled while the old text is on its way follows as a correction', async () => {
  const edit = { seq: 2, id: 'msg_e_0_2', at: now, kind: 'edit', editOf: id, text: 'rather stop' } as const;
  beforeAppend = async () => {
    beforeAppend = undefined;
    await journal.append([{ t: 'row', p, at: now, row: edit }]);
  };
  const { context } = await happens({ type: 'turnStart', prompt: 'go on' });
  expect(context).toContain(']\ngo\n[');
  expect(message()).toMatchObject({ phase: 'handed', row: { text: 'go' } });
  expect((await happens({ type: 'turnStart', prompt: 'again' })).context).toContain('rather stop');
});

describe('a message that no agent picks up', () => {
  const checks = async (afterMs: number) => {
    time += afterMs;
    await turns.checkProcess();
  };
  const comes = async (seq: number, text: string) => {
    const row = { seq, id: `msg_e_0_${seq}`, at: time, kind: 'message', text, expiresAt: now + 1e9 } as const;
    await journal.append([{ t: 'row', p, at: time, row }]);
  };
  const begins = async () => {
    const { context = '' } = await happens({ type: 'turnStart', prompt: 'go on' });
    await happens({ type: 'modelRequest', texts: [context] });
    await turns.exclusive(async () => {});
  };

  it('is told once until the next turn, and how it will be picked up', async () => {
    await checks(0);
    await checks(4_999);
    expect(told).toEqual([]);
    await checks(1);
    expect(told).toEqual([expect.stringMatching(/^to msg_e_0_1: It waits: no session/)]);
    await comes(2, 'and this');
    await checks(60_000);
    expect(told).toHaveLength(1);

    await begins();
    await happens({ type: 'turnEnd', answer: 'Done.' });
    await checks(60_000);
    expect(told).toHaveLength(1);
    await comes(3, 'one more');
    await checks(2_000);
    await checks(5_000);
    expect(told.slice(1)).toEqual([
      expect.stringMatching(/^to msg_e_0_3: It waits for the next turn of the coding agent/),
    ]);
  });

  it('is not told while a turn runs or an agent polls, and not what the owner knows to wait', async () => {
    isPolled = true;
    await checks(0);
    await checks(60_000);
    isPolled = false;
    await begins();
    await comes(2, 'while you work');
    await checks(0);
    await checks(60_000);
    // As a STOP does.
    await journal.append([{ t: 'parked', p, at: time, ids: ['msg_e_0_2'] }]);
    await happens({ type: 'turnEnd', answer: 'Done.' });
    expect(turns.status().turnRuns).toBe(false);
    await checks(0);
    await checks(60_000);
    const control = { type: 'command', name: 'later', args: 'this later' } as const;
    await journal.append([
      { t: 'row', p, at: time, row: { kind: 'control', id: 'msg_e_0_3', seq: 3, at: time, control } },
      { t: 'later', p, at: time, id: 'msg_e_0_3' },
    ]);
    expect(journal.project(p).waiting.size).toBe(2);
    await checks(0);
    await checks(60_000);
    expect(told).toEqual([]);
  });
});

describe('an order of the owner to an idle terminal', () => {
  const asks = async () => [await turns.steering.away(''), await turns.steering.sprint('s', '2')];
  const endATurn = async () => {
    await happens({ type: 'turnStart', prompt: 'go on' });
    await happens({ type: 'turnEnd', answer: 'Done.' });
  };

  it('that can be woken begins a turn there for a sprint, and away needs none', async () => {
    isTerminal = true;
    canWake = true;
    await endATurn();
    time += 5_000;
    const nudged: number[] = [];
    nudge = async (pid) => nudged.push(pid) > 0;
    expect(await asks()).toEqual([
      'Away is on: a message of yours wakes the idle terminal.',
      'Sprint of at most 2 tasks: the idle terminal was woken; it starts after the turn that began there.',
    ]);
    expect(nudged).toEqual([42]);
  });

  it('where somebody types is tried again until the terminal can be woken', async () => {
    isTerminal = true;
    canWake = true;
    await endATurn();
    const nudged: number[] = [];
    nudge = async (pid) => nudged.push(pid) > 0;
    keyAt = time + 1_000;
    expect((await asks())[1]).toBe('Sprint of at most 2 tasks: it starts as soon as nobody types at the terminal.');
    time += 5_000;
    await turns.checkProcess();
    expect(nudged).toEqual([]);
    time += 1_000;
    await turns.checkProcess();
    await turns.exclusive(async () => {});
    expect(nudged).toEqual([42]);
  });

  it('that nothing can wake is answered with what to do at the desk', async () => {
    isTerminal = true;
    await endATurn();
    expect(await asks()).toEqual([
      'Away is on, but the idle terminal cannot be woken from here: type /wa:away there, so that the agent waits for your messages.',
      'Sprint of at most 2 tasks: it starts after the next turn at the terminal, which is idle and cannot be woken from here: type a prompt there.',
    ]);
  });

  it('types nothing where no person sits', async () => {
    canWake = true;
    let isNudged = false;
    nudge = async () => {
      isNudged = true;
      return true;
    };
    await endATurn();
    time += 5_000;
    expect(await asks()).toEqual([
      'Away is on: a turn in a terminal waits for your messages when it ends.',
      'Sprint of at most 2 tasks: it starts after the next turn of the coding agent.',
    ]);
    expect(isNudged).toBe(false);
  });
});

it('a prompt that the host writes into its session file and never starts gives its message back, and the phone reads that', async () => {
  const transcript = join(root, 'session.jsonl');
  const second = 'msg_e_0_2';
  await writeFile(transcript, '');
  const { context = '' } = await happens({ type: 'turnStart', prompt: 'go on' }, transcript);
  await happens({ type: 'modelRequest', texts: [context] }, transcript);
  const row = { seq: 2, id: second, at: now, kind: 'message', text: 'and this', expiresAt: now + 1e9 } as const;
  await journal.append([{ t: 'row', p, at: now, row }]);
  await writeFile(transcript, `${JSON.stringify({ id: 'g', type: 'gemini', content: 'Done.' })}\n`);
  const { next = '' } = await happens({ type: 'turnEnd', answer: 'Done.' }, transcript);
  expect(next).toContain('and this');
  await appendFile(transcript, `${JSON.stringify({ id: 'u', type: 'user', content: next })}\n`);
  time += 91_000;
  await turns.checkProcess();
  expect(journal.project(p).messages.get(second)).toMatchObject({ phase: 'waiting', attempt: 1 });
  expect([texts(), told]).toEqual([['Done.'], [expect.stringContaining('Your message did not reach the agent')]]);
});

it('the phone reads how full the context window is, as it was measured', async () => {
  const transcript = join(root, 'session.jsonl');
  const line = (type: string, content: string, input?: number) =>
    `${JSON.stringify({ id: type, type, content, ...(input === undefined ? {} : { tokens: { input } }) })}\n`;
  await writeFile(transcript, '');
  await turns.steering.sprint('s', '5');
  await happens({ type: 'turnStart', prompt: 'go on' }, transcript);
  await writeFile(transcript, line('user', 'go on') + line('gemini', 'Done.', 0.865 * 1_048_576));
  await happens({ type: 'turnEnd', answer: 'Done.' }, transcript);
  expect(told).toContain('The context window of the agent is 86 % full.');
});
