// Which end in the outbox file is the end of the turn that runs: the turn rules over a real journal, outbox file and session file.

import { appendFile, mkdir, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Journal } from '../../../agent/journal/journal.ts';
import { answerId, createSigner } from '../../../agent/mailbox/signing.ts';
import { createNotifier } from '../../../agent/phone/notify.ts';
import type { OutboxSync } from '../../../agent/relay/outbox.ts';
import type { Turns } from '../../../agent/session/types.ts';
import type { OutboxEntry } from '../../../protocol/files.ts';
import type { TurnEvent } from '../../../protocol/turn-events.ts';
import { outboxOf } from '../../helpers/outbox.ts';
import { plainTurns } from '../../helpers/plain-turns.ts';
import { privatePhone } from '../../helpers/private-phone.ts';
import { journalIn, temporaryFolder, testClock } from '../../helpers/surroundings.ts';
import { line } from './turns-world.ts';

const p = '1.0';
const signer = createSigner('a'.repeat(64), p);
const clock = testClock();

let path: string;
let transcript: string;
let dir: string;
let journal: Journal;
let outbox: OutboxSync;
let turns: Turns;
let told: string[];
let livingPid: number;
let full: { journal: boolean; file: boolean; proof: boolean };
/** Resolves when the next append of the journal succeeds. */
let nextAppend: () => Promise<void>;

beforeEach(async () => {
  dir = await temporaryFolder();
  path = join(dir, 'wa_outbox.json');
  transcript = join(dir, 'session.jsonl');
  livingPid = 42;
  full = { journal: false, file: false, proof: false };
  await writeFile(transcript, '');
  await start();
});
afterEach(end);

async function start(): Promise<void> {
  journal = await journalIn(dir, clock);
  told = [];
  let onAppended = () => {};
  nextAppend = () =>
    new Promise((resolve) => {
      onAppended = resolve;
    });
  const noSpace = () => Promise.reject(new Error('no space left on device'));
  const breaking: Journal = {
    ...journal,
    append: async (records) => {
      if (full.journal || (full.proof && records.some(({ t }) => t === 'proved'))) return noSpace();
      await journal.append(records);
      if (records.length > 0) onAppended();
    },
  };
  const shared = { project: journal.project(p), journal: breaking, clock: clock.now };
  outbox = outboxOf({ ...shared, path, signer, prepare: () => (full.file ? noSpace() : Promise.resolve()) });
  const settings = { answersDir: join(dir, 'answers'), summaryMaxChars: 500, redact: (text: string) => text };
  const notifier = createNotifier({ ...shared, ...settings, outbox, log: () => {} });
  turns = plainTurns({
    ...{ journal: breaking, p, clock: clock.now, reports: [], told: [] },
    more: {
      report: (report) => {
        told.push(report.id);
        return notifier.report(report);
      },
      tellWithheld: notifier.tellWithheld,
      scanOutbox: () => outbox.scan().then(outbox.isTaken),
      isAlive: (pid) => pid === livingPid,
      follow: 'always',
    },
  });
}

async function end(): Promise<void> {
  await turns.stop();
  await outbox.stop();
  await journal.close();
}

const happens = (event: TurnEvent, { session = 's', pid = 42, isGone = false } = {}) =>
  turns.handle(
    { agent: 'gemini', event, session, cwd: dir, transcript },
    { tool: 'gemini', pid, maxMs: 60_000, isGone: () => isGone },
  );
const starts = (prompt: string) => happens({ type: 'turnStart', prompt });
const says = (...lines: string[]) => appendFile(transcript, lines.join(''));
const size = async () => (await stat(transcript)).size;
const idOf = (run: string) => answerId('gemini', 's', run);
const runs = () => turns.status().turnRuns;
const message = (id: string) => journal.project(p).messages.get(id);

async function turn(run: string): Promise<void> {
  await starts(run);
  await says(line('user', run), line('gemini', `Answer ${run}.`));
  await happens({ type: 'turnEnd', answer: `Answer ${run}.`, run });
}

async function arrives(id: string, seq: number): Promise<void> {
  const at = clock.now();
  const row = { seq, id, at, kind: 'message', text: `text ${id}`, expiresAt: at + 1e9 } as const;
  await journal.append([{ t: 'row', p, at, row }]);
}

/** As the journal has a message that a hook alone gave at the present end of the session file. */
async function givenAlone(id: string, seq: number, starts: boolean): Promise<void> {
  await arrives(id, seq);
  const hand = { ids: [id], tool: 'gemini', session: 's', transcript, offset: await size() };
  await journal.append([{ t: 'handed', p, at: clock.now(), ...hand, ...(starts ? { starts } : {}) }]);
}

/** As a hook leaves the answer of a run in the file. */
async function toldAlone(run: string, at: number, of = transcript): Promise<void> {
  const via = { tool: 'gemini', session: 's', transcript: of, at };
  const base = { id: idOf(run), timestamp: '2026-02-15T14:30:00Z', from: 'agent', text: `Answer ${run}.` };
  const entry: OutboxEntry = signer.sign({ ...base, sent: false, via }, 'outbox');
  await writeFile(path, JSON.stringify({ messages: [entry] }), { mode: 0o600 });
}

/** Another program takes all entries out of the file. */
async function emptied(): Promise<void> {
  await writeFile(path, JSON.stringify({ messages: [] }), { mode: 0o600 });
  await outbox.scan();
}

describe('the end that a hook told alone', () => {
  it('ends the turn that the journal knows, at the next look at the file or at the next prompt, and is told once', async () => {
    await starts('one');
    await says(line('user', 'one'), line('gemini', 'Answer one.'));
    await toldAlone('one', await size());
    await starts('two');
    expect(told).toEqual([idOf('one')]);
  });

  it('ends the turn also when another program has taken it out of the file meanwhile, and after a restart', async () => {
    await starts('one');
    await says(line('user', 'one'), line('gemini', 'Answer one.'));
    await toldAlone('one', await size());
    await outbox.scan();
    await emptied();
    await end();
    await start();
    await starts('two');
    expect(told).toEqual([idOf('one')]);
  });

  it.each([
    ['taken out of the file', true],
    ['not looked at yet', false],
  ])('of a turn that the journal does not know is not told again at the next prompt: %s', async (_, isTaken) => {
    await turn('one');
    await end();
    await says(line('user', 'two'), line('gemini', 'Answer two.'));
    await toldAlone('two', await size());
    await start();
    if (isTaken) {
      await outbox.scan();
      await emptied();
    }
    await starts('three');
    expect(told).toEqual([]);
  });

  it('ends no turn that began behind it, and none of another session file', async () => {
    await turn('one');
    await says(line('user', 'two'), line('gemini', 'Answer two.'));
    await toldAlone('two', await size());
    await outbox.scan();
    await starts('three');
    await says(line('user', 'three'));
    await turns.checkProcess();
    expect(runs()).toBe(true);
    const other = join(dir, 'other.jsonl');
    await writeFile(other, 'x'.repeat(10_000));
    await toldAlone('other', await size(), other);
    await outbox.scan();
    await turns.checkProcess();
    expect(runs()).toBe(true);
  });

  it('ends nothing where its note names a place that the session file does not have', async () => {
    await starts('one');
    await says(line('user', 'one'), line('gemini', 'Answer one.'));
    await toldAlone('planted', Number.MAX_SAFE_INTEGER);
    await outbox.scan();
    await emptied();
    await turns.checkProcess();
    expect(runs()).toBe(true);
    await happens({ type: 'turnEnd', answer: 'Answer one.', run: 'one' });
    await starts('two');
    await turns.checkProcess();
    expect([runs(), told]).toEqual([true, [idOf('one')]]);
  });

  it.each([
    ['shorter', (path: string) => writeFile(path, line('user', 'x'))],
    ['gone', (path: string) => rm(path)],
  ])('ends its turn under its id also when the session file is %s by then', async (_, change) => {
    await turn('one');
    await arrives('msg_e_0_1', 1);
    const { context } = await starts('two');
    await says(line('user', `two ${context}`), line('gemini', 'Answer two.'));
    await turns.checkProcess();
    await toldAlone('two', await size());
    await outbox.scan();
    await change(transcript);
    told.length = 0;
    await turns.checkProcess();
    await starts('three');
    expect([told, message('msg_e_0_1')?.ended]).toEqual([[idOf('two')], 'answered']);
  });

  it('is told once when a hook alone then began a turn in another session', async () => {
    await turn('one');
    await starts('two');
    await says(line('user', 'two'), line('gemini', 'Answer two.'));
    await toldAlone('two', await size());
    transcript = join(dir, 'other.jsonl');
    await writeFile(transcript, '');
    await givenAlone('msg_e_0_1', 1, true);
    await says(line('user', 'three msg_e_0_1'));
    told.length = 0;
    await turns.checkProcess();
    expect([told, runs()]).toEqual([[idOf('two')], true]);
  });

  it('hides no later turn that nobody told, whatever place its note names', async () => {
    await turn('one');
    await toldAlone('planted', Number.MAX_SAFE_INTEGER);
    await outbox.scan();
    await end();
    await says(line('user', 'two'), line('gemini', 'Answer two.'));
    await start();
    await starts('three');
    expect(told).toHaveLength(1);
  });

  it.each<[string, TurnEvent, number]>([
    ['with its start', { type: 'sessionStart', source: 'resume' }, 42],
    ['with a tool', { type: 'toolEnd', tool: 'shell', input: {} }, 42],
    ['in another process', { type: 'sessionStart', source: 'resume' }, 43],
  ])('ends the turn also when the session goes on under another id before the next look, %s', async (_, event, pid) => {
    await starts('one');
    await says(line('user', 'one'), line('gemini', 'Answer one.'));
    await toldAlone('one', await size());
    livingPid = pid;
    await happens(event, { session: 'resumed', pid });
    await starts('two');
    expect(told).toEqual([idOf('one')]);
  });
});

describe('an answer that a hook alone told and another program took out of the file before the daemon looked', () => {
  const states = () => ['msg_e_0_1', 'msg_e_0_2'].map((id) => message(id)?.ended);

  /** Two turns that hooks alone began; nobody has told the first. */
  async function twoAlone(): Promise<void> {
    await givenAlone('msg_e_0_1', 1, true);
    await says(line('user', 'two msg_e_0_1'), line('gemini', 'Answer two.'));
    await givenAlone('msg_e_0_2', 2, true);
    await says(line('user', 'three msg_e_0_2'));
    told.length = 0;
  }

  it.each([
    ['that goes on', async () => {}],
    ['that starts', () => end().then(start)],
  ])(
    'is told by the session file once the next turn has begun, with what became of its message: by a daemon %s',
    async (_, passes) => {
      await turn('one');
      await twoAlone();
      await passes();
      await turns.checkProcess();
      expect([told.length, runs(), states()]).toEqual([1, true, ['answered', undefined]]);
      await says(line('gemini', 'Answer three.'));
      await happens({ type: 'turnEnd', answer: 'Answer three.', run: 'three' });
      expect([told.length, runs(), states()]).toEqual([2, false, ['answered', 'answered']]);
      const entries = [...journal.project(p).outbox.values()];
      expect(entries.map(({ source }) => source.kind === 'file' && source.answer.text)).toEqual([
        'Answer one.',
        'Answer two.',
        'Answer three.',
      ]);
    },
  );

  it('is told before what the event of the next end says, under the id of that event', async () => {
    await turn('one');
    await twoAlone();
    await says(line('gemini', 'Answer three.'));
    await happens({ type: 'turnEnd', answer: 'Answer three.', run: 'three' });
    expect([told.length, told[1], runs(), states()]).toEqual([2, idOf('three'), false, ['answered', 'answered']]);
  });

  it('is told also where its turn carried no message of the phone', async () => {
    await turn('one');
    await end();
    await says(line('user', 'two'), line('gemini', 'Answer two.'));
    journal = await journalIn(dir, clock);
    await givenAlone('msg_e_0_2', 2, true);
    await journal.close();
    await says(line('user', 'three msg_e_0_2'), line('gemini', 'Answer three.'));
    await start();
    await toldAlone('three', await size());
    await outbox.scan();
    await turns.checkProcess();
    expect(told).toHaveLength(2);
    expect([told[1], runs(), message('msg_e_0_2')?.ended]).toEqual([idOf('three'), false, 'answered']);
  });

  it('is no answer yet where the message was given into the turn that ran', async () => {
    await turn('one');
    await givenAlone('msg_e_0_1', 1, true);
    await says(line('user', 'two msg_e_0_1'), line('gemini', 'I look first.'));
    await givenAlone('msg_e_0_2', 2, false);
    told.length = 0;
    await turns.checkProcess();
    expect([told, runs(), states()]).toEqual([[], true, [undefined, undefined]]);
  });

  it('has the id of the hook where it stands in the file and nobody has looked', async () => {
    await turn('one');
    await givenAlone('msg_e_0_1', 1, true);
    await says(line('user', 'two msg_e_0_1'), line('gemini', 'Answer two.'));
    await toldAlone('two', await size());
    await givenAlone('msg_e_0_2', 2, true);
    told.length = 0;
    await turns.checkProcess();
    expect([told, runs(), states()]).toEqual([[idOf('two')], true, ['answered', undefined]]);
  });
});

describe('a turn that a hook alone began', () => {
  it('is the continuation whose prompt the host has not written yet, where one was offered', async () => {
    await starts('one');
    await says(line('user', 'one'), line('gemini', 'Answer one.'));
    await arrives('msg_e_0_1', 1);
    const { next } = await happens({ type: 'turnEnd', answer: 'Answer one.', run: 'one' });
    expect(next).toContain('msg_e_0_1');
    await says(line('info', 'The host says something of its own.'));
    await givenAlone('msg_e_0_2', 2, true);
    told.length = 0;
    await turns.checkProcess();
    expect([told, message('msg_e_0_1')?.attempt]).toEqual([[], 0]);
    await says(line('user', `${next} msg_e_0_2`), line('gemini', 'Both.'));
    await happens({ type: 'turnEnd', answer: 'Both.', run: 'two' });
    expect(['msg_e_0_1', 'msg_e_0_2'].map((id) => message(id)?.ended)).toEqual(['answered', 'answered']);
  });

  it('is not ended by the event of an earlier end, which comes after its hook had told that alone', async () => {
    await starts('one');
    await says(line('user', 'one'), line('gemini', 'Answer one.'));
    await toldAlone('one', await size());
    await givenAlone('msg_e_0_2', 2, true);
    await says(line('user', 'two msg_e_0_2'));
    await happens({ type: 'turnEnd', answer: 'Answer one.', run: 'one' }, { isGone: true });
    expect([told, runs(), message('msg_e_0_2')?.ended]).toEqual([[idOf('one')], true, undefined]);
  });

  it('ends the turn before it not until the outbox file could be read', async () => {
    await starts('one');
    await says(line('user', 'one'), line('gemini', 'Answer one.'));
    const at = await size();
    await givenAlone('msg_e_0_2', 2, true);
    await says(line('user', 'two msg_e_0_2'));
    await mkdir(path);
    await turns.checkProcess();
    expect(told).toEqual([]);
    await rmdir(path);
    await toldAlone('one', at);
    await turns.checkProcess();
    expect([told, runs()]).toEqual([[idOf('one')], true]);
  });
});

describe('an end that the daemon told itself', () => {
  it('ends no turn in a shorter session file of the same name', async () => {
    for (const run of ['one', 'two', 'three']) await turn(run);
    await writeFile(transcript, '');
    for (const run of ['four', 'five', 'six']) {
      await starts(run);
      await says(line('user', run.repeat(run === 'four' ? 1 : 100)));
      await turns.checkProcess();
      expect(runs(), run).toBe(true);
      await says(line('gemini', `Answer ${run}.`));
      await happens({ type: 'turnEnd', answer: `Answer ${run}.`, run });
    }
  });

  it('ends no turn at whose beginning the session file could not be looked at', async () => {
    await turn('one');
    await rename(transcript, `${transcript}.away`);
    await starts('two');
    await rename(`${transcript}.away`, transcript);
    await says(line('user', 'two'));
    await turns.checkProcess();
    expect(runs()).toBe(true);
  });

  it.each([
    ['by the daemon alone', false],
    ['by a hook, too', true],
  ])('ends no turn that was begun while the answer was put down %s', async (_, isToldAlone) => {
    await starts('one');
    await says(line('user', 'one'), line('gemini', 'Answer one.'));
    if (isToldAlone) await toldAlone('one', await size());
    await says(line('user', 'two'));
    // The beginning of the next turn is noted now, and the session file grows before the end of this one is settled.
    const ended = happens({ type: 'turnEnd', answer: 'Answer one.', run: 'one' });
    const began = starts('two');
    await says(line('gemini', 'On my way.'));
    await Promise.all([ended, began]);
    await outbox.scan();
    await turns.checkProcess();
    expect([runs(), told]).toEqual([true, [idOf('one')]]);
  });
});

describe('an end that a full disk left unsettled', () => {
  it.each([
    ['journal and file', true],
    ['the journal', false],
  ])('does not end what the next prompt has added to the turn: %s', async (_, file) => {
    await arrives('msg_e_0_1', 1);
    const first = await starts('one');
    await says(line('user', `one ${first.context}`), line('gemini', 'Answer one.'));
    full = { ...full, journal: true, file };
    await happens({ type: 'turnEnd', answer: 'Answer one.', run: 'one' });
    await expect(starts('two')).rejects.toThrow('no space left');
    await says(line('user', 'two'));
    const kept = nextAppend();
    full = { ...full, journal: false, file: false };
    await kept;
    await turns.checkProcess();
    expect(runs()).toBe(true);
    await arrives('msg_e_0_2', 2);
    const { context } = await happens({ type: 'toolEnd', tool: 'shell', input: {} });
    expect(context).toContain('msg_e_0_2');
    await outbox.scan();
    await turns.checkProcess();
    expect([runs(), message('msg_e_0_2')?.ended]).toEqual([true, undefined]);
    expect(journal.project(p).outbox.has(idOf('one'))).toBe(true);
  });

  it('is settled without another event where only the proof found no room, and the answer did', async () => {
    await arrives('msg_e_0_1', 1);
    const { context } = await starts('one');
    await says(line('user', `one ${context}`), line('gemini', 'Answer one.'));
    full.proof = true;
    await happens({ type: 'turnEnd', answer: 'Answer one.', run: 'one' });
    expect([journal.project(p).outbox.has(idOf('one')), message('msg_e_0_1')?.ended]).toEqual([true, undefined]);
    full.proof = false;
    await turns.checkProcess();
    expect([runs(), message('msg_e_0_1')?.ended]).toEqual([false, 'answered']);
  });

  it('keeps no session from beginning', async () => {
    await starts('one');
    await says(line('user', 'one'), line('gemini', 'Answer one.'));
    full = { ...full, journal: true };
    await happens({ type: 'turnEnd', answer: 'Answer one.', run: 'one' });
    await happens({ type: 'sessionStart', source: 'resume' }, { session: 'resumed' });
    expect(turns.status().session).toBe('resumed');
  });

  it('is settled without another event once the disk has room, a failure as a failure in each language of the phone', async () => {
    await journal.append([{ t: 'phone', p, at: clock.now(), phone: { ...privatePhone, language: 'de' } }]);
    await arrives('msg_e_0_1', 1);
    const { context } = await starts('one');
    await says(line('user', `one ${context}`));
    await happens({ type: 'modelRequest', texts: [context ?? ''] });
    await says(line('error', 'no quota'));
    full.journal = true;
    await happens({ type: 'turnEnd', answer: undefined, error: 'no quota', run: 'one' });
    const kept = nextAppend();
    full.journal = false;
    await kept;
    await happens({ type: 'modelRequest', texts: [] });
    await turns.checkProcess();
    expect([runs(), message('msg_e_0_1')?.ended]).toEqual([false, 'failed']);
  });
});
