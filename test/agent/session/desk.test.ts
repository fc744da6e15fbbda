// Presence by an injected clock: who is at the terminal, what the phone is told meanwhile, and what ends a wait.

import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import type { Journal } from '../../../agent/journal/journal.ts';
import type { Follow } from '../../../agent/journal/records.ts';
import { createNotifier } from '../../../agent/phone/notify.ts';
import { createTurns } from '../../../agent/session/turns.ts';
import type { Turns } from '../../../agent/session/types.ts';
import type { OutboxItem } from '../../../protocol/relay-api.ts';
import { nudgeLine, type TurnAnswer, type TurnEvent } from '../../../protocol/turn-events.ts';
import { loneInbox } from '../../helpers/inbox.ts';
import { journalIn, type TestClock, temporaryFolder, testClock } from '../../helpers/surroundings.ts';

const p = '1000001.0';
const awayAfterMs = 120_000;

let dir: string;
let clock: TestClock;
let journal: Journal;
let turns: Turns;
/** What the phone shows. */
let phone: string[];
let keyAt: number | undefined;
let canWake: boolean;
let nudged: number;

beforeEach(async () => {
  phone = [];
  keyAt = undefined;
  canWake = false;
  nudged = 0;
  clock = testClock();
  dir = await temporaryFolder();
  journal = await journalIn(dir, clock);
  await mkdir(join(dir, 'project'));
  turns = start();
});

/** As a daemon that starts with this journal. */
function start(follow: Follow = 'auto', timeMs = awayAfterMs): Turns {
  const project = journal.project(p);
  const path = join(dir, 'project', 'wa_inbox.json');
  const notifier = createNotifier({
    project,
    journal,
    outbox: {
      send: async (...items: OutboxItem[]) => void phone.push(...items.map(({ parts }) => parts[0]?.text ?? '')),
      report: async ({ text }, { receipts }) => {
        await journal.append(receipts);
        phone.push(text);
      },
    },
    answersDir: join(dir, 'answers'),
    summaryMaxChars: 500,
    redact: (text) => text,
    clock: clock.now,
    log: () => {},
  });
  const inbox = loneInbox({ project, journal, path, clock: clock.now, onRefreshed: () => {} });
  // A refresh follows a hand-over; the folder goes after it.
  onTestFinished(() => inbox.stop());
  return createTurns({
    project,
    journal,
    inbox,
    report: notifier.report,
    tellWithheld: notifier.tellWithheld,
    onReceipts: () => {},
    activity: { started: () => {}, running: () => {}, said: () => {}, tool: () => {}, ended: () => {} },
    tell: notifier.tell,
    compressions: async () => [],
    scanOutbox: async () => true,
    onDialog: () => {},
    isAlive: () => true,
    isInteractive: async () => true,
    lastKeyAt: async () => keyAt,
    canWake: async () => canWake,
    nudge: async () => {
      nudged += 1;
      return true;
    },
    awayAfterMs: timeMs,
    follow,
    routes: () => [],
    holdPolicy: 'auto',
    sprintText: undefined,
    clock: clock.now,
    log: () => {},
  });
}

function happens(event: TurnEvent): Promise<TurnAnswer> {
  const host = { tool: 'gemini', pid: 42, maxMs: 86_400_000, isGone: () => false };
  return turns.handle({ agent: 'gemini', session: 's', transcript: undefined, cwd: dir, event }, host);
}
const prompts = (prompt = 'go on') => happens({ type: 'turnStart', prompt });
const ends = (answer: string | undefined) => happens({ type: 'turnEnd', answer, run: randomUUID() });
async function aTurn(answer: string | undefined): Promise<void> {
  await prompts();
  await ends(answer);
}
async function passes(ms: number): Promise<void> {
  clock.advance(ms);
  await turns.checkProcess();
}
const writes = (seq: number, text: string) => {
  const row = { seq, id: `msg_e_0_${seq}`, at: clock.now(), kind: 'message', text, expiresAt: 9e15 } as const;
  return journal.append([{ t: 'row', p, at: clock.now(), row }]);
};

it('turns that a person begins and reads at the terminal come as one message when the person has left, once', async () => {
  await aTurn('One.');
  clock.advance(1_000);
  await aTurn('Two.');
  await passes(awayAfterMs - 1);
  expect(phone).toEqual([]);
  expect(turns.status()).toMatchObject({ present: true, withheld: 2 });
  await passes(1);
  await passes(2_000);
  expect(phone).toEqual(['While you were at the terminal, 2 turns; the last answer:\nTwo.']);
  expect(turns.status()).toMatchObject({ present: false, withheld: 0 });
});

it('a key keeps the phone quiet for longer', async () => {
  await aTurn('One.');
  keyAt = clock.now() + 60_000;
  await passes(awayAfterMs);
  expect(phone).toEqual([]);
  await passes(60_000);
  expect(phone).toEqual(['While you were at the terminal, one turn:\nOne.']);
});

it('what was withheld outlives the daemon', async () => {
  await aTurn('One.');
  turns = start();
  clock.advance(awayAfterMs);
  await turns.checkProcess();
  expect(phone).toEqual(['While you were at the terminal, one turn:\nOne.']);
});

it('a turn that ends while nobody is there is told at once and waits for the phone; the next message is its next prompt', async () => {
  await prompts();
  clock.advance(awayAfterMs);
  const held = ends('Done.');
  await expect.poll(() => turns.status()).toMatchObject({ held: true, away: false });
  expect(phone).toEqual(['Done.']);
  await writes(1, 'And now?');
  turns.wake();
  expect((await held).next).toContain('And now?');
});

it('with "awayAfter" 0 only the owner says that nobody is there', async () => {
  turns = start('auto', 0);
  await prompts();
  clock.advance(86_400_000);
  expect(await ends('Done.')).toEqual({});
  expect(phone).toEqual([]);
  await turns.steering.away('on');
  await turns.checkProcess();
  expect(phone).toEqual(['While you were at the terminal, one turn:\nDone.']);
});

it('a key ends the wait and away with it', async () => {
  await prompts();
  await turns.steering.away('on');
  clock.advance(awayAfterMs);
  const held = ends('Done.');
  await turns.exclusive(async () => {});
  await passes(600_000);
  expect(turns.status()).toMatchObject({ held: true, away: true });
  keyAt = clock.now() + 1;
  await passes(1);
  expect(await held).toEqual({ notice: expect.stringContaining('the keyboard is yours') });
  expect(turns.status()).toMatchObject({ held: false, away: false, present: true });
});

it('the window that somebody leaves behind just after the wait began is no return', async () => {
  const held = prompts('/wa:away').then(() => ends('ok'));
  await turns.exclusive(async () => {});
  await turns.exclusive(async () => {});
  keyAt = clock.now() + 5_000;
  await passes(9_000);
  expect(turns.status()).toMatchObject({ held: true, away: true });
  keyAt = clock.now() + 1_000;
  await passes(1_000);
  expect((await held).notice).toContain('the keyboard is yours');
});

it('a key while a turn of the phone runs means that its end is no wait', async () => {
  canWake = true;
  await writes(1, 'Do it');
  await prompts(nudgeLine);
  clock.advance(1_000);
  keyAt = clock.now();
  expect(await ends('Done.')).toEqual({});
  expect(phone).toEqual(['Done.']);
});

it('an idle terminal in tmux that nobody touched for two minutes is woken at the next look', async () => {
  canWake = true;
  await aTurn('One.');
  await passes(awayAfterMs);
  await writes(1, 'Are you there?');
  await turns.checkProcess();
  expect(nudged).toBe(1);
  const { context, notice } = await prompts(nudgeLine);
  expect(context).toContain('Are you there?');
  expect(notice).toBe('From the phone: Are you there?');
  // Nobody typed that line.
  expect(turns.status()).toMatchObject({ present: false });
});

it('a person who types is not disturbed, and the message comes five seconds after the last key', async () => {
  canWake = true;
  await aTurn('One.');
  await writes(1, 'Are you there?');
  for (const seconds of [4, 8]) {
    keyAt = clock.now() + 4_000;
    await passes(4_000);
    expect({ seconds, nudged }).toEqual({ seconds, nudged: 0 });
  }
  await passes(4_999);
  expect(nudged).toBe(0);
  await passes(1);
  expect(nudged).toBe(1);
});

it('a terminal that nothing wakes says so when its session starts, and the phone hears at once what to do there', async () => {
  const { notice } = await happens({ type: 'sessionStart', source: 'startup' });
  expect(notice).toMatch(/no message of the phone can wake it\. Type wa:away before you leave/);
  await aTurn('One.');
  await writes(1, 'Are you there?');
  await turns.checkProcess();
  expect(phone).toEqual([expect.stringMatching(/^It waits for a prompt .* type anything there/)]);
});

it('a terminal that can be woken begins its session without a word', async () => {
  canWake = true;
  expect((await happens({ type: 'sessionStart', source: 'startup' })).notice).toBeUndefined();
});

it('a daemon that starts anew wakes the terminal of a session that it has never heard', async () => {
  canWake = true;
  await aTurn('One.');
  turns = start();
  await writes(1, 'Are you there?');
  await passes(10_000);
  expect(nudged).toBe(1);
});

it('an error that nobody looks at is told after half a minute, one that a person saw waits with the rest', async () => {
  await aTurn(undefined);
  keyAt = clock.now() + 1_000;
  await passes(60_000);
  expect(phone).toEqual([]);
  await aTurn(undefined);
  await passes(29_999);
  expect(phone).toEqual([]);
  await passes(1);
  expect(phone).toEqual([
    expect.stringMatching(/2 turns; the last answer:\nFailed: The turn ended without an answer\.$/),
  ]);
});

it('what the agent does at the terminal between its turns is told as its turns are: not to a person who sits there', async () => {
  const compresses = async () => {
    await happens({ type: 'notice', text: 'It compresses.' });
    await turns.exclusive(async () => {});
  };
  await aTurn('One.');
  await compresses();
  await turns.steering.follow('always');
  await compresses();
  expect(phone).toEqual(['It compresses.']);
  await turns.steering.follow('auto');
  await passes(awayAfterMs);
  phone = [];
  await compresses();
  expect(phone).toEqual(['It compresses.']);
  await turns.steering.follow('never');
  await compresses();
  expect(phone).toEqual(['It compresses.']);
});

it('/follow says which turns are sent, and the setting outlives the daemon', async () => {
  expect(await turns.steering.follow('')).toMatch(/^Follow is auto/);
  expect(await turns.steering.follow('x')).toBe('It is /follow auto, /follow always or /follow never.');
  expect(await turns.steering.follow('always')).toMatch(/^Follow is always/);
  turns = start();
  await aTurn('One.');
  expect(phone).toEqual(['One.']);
  await turns.steering.follow('never');
  await aTurn('Two.');
  await passes(awayAfterMs);
  expect(phone).toEqual(['One.']);
  expect(turns.status()).toMatchObject({ follow: 'never', withheld: 1 });
});

it('a turn that carries a message of the phone is told, whoever is at the terminal', async () => {
  await writes(1, 'Say it');
  const { context = '' } = await prompts();
  await happens({ type: 'modelRequest', texts: [context] });
  await turns.exclusive(async () => {});
  await ends('Said.');
  expect(phone).toEqual(['Said.']);
});
